/* Control text that somebody typed: as plain text, or taken for the token it names, and the ids of both. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  /** The stretch in which two rows of tokens differ: [a's, b's]. */
  function apart(a, b) {
    let start = 0;
    while (start < Math.min(a.length, b.length) && a[start].id === b[start].id) start += 1;
    let end = 0;
    while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end].id === b[b.length - 1 - end].id) end += 1;
    return [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  }

  /** formControl(flip(on)) -> {node, set(flags, plain, taken, on)}: plain, taken: the same chat in the
   *  model's own template with its control text as text, and as tokens. */
  BOT.formControl = (flip) => {
    const says = el("p");
    const rows = ["text", "token"].map((name) => {
      const row = BOT.idRow(`panel.families.control_${name}`);
      const button = BOT.say(el("button", { class: "bot-btn", type: "button", on: { click: () => flip(name === "token") } }), `panel.families.control_${name}`);
      const counts = el("span", { class: "bot-muted" });
      return { row, button, counts, node: el("div", { class: "bot-form-control-row" }, button, counts, row.node) };
    });
    const node = el("div", { class: "bot-form-control", hidden: true }, says, rows.map((r) => r.node), BOT.say(el("p", { class: "bot-hint" }), "panel.families.control_why"));

    return {
      node,
      set(flags, plain, taken, on) {
        node.hidden = !flags.length || !plain || Boolean(plain.error) || !taken || Boolean(taken.error);
        if (node.hidden) return;
        BOT.setText(says, BOT.t("panel.families.control", { texts: flags.map((f) => `\u2068${BOT.visibleText(f)}\u2069`).join(" ") }));
        const both = apart(plain.tokens, taken.tokens);
        rows.forEach((row, k) => {
          row.row.set(both[k], (t) => both[k][t].special);
          BOT.setAttr(row.button, "aria-pressed", (k === 1) === on);
          BOT.setText(row.counts, BOT.t("panel.families.control_ids", { n: both[k].length }));
        });
      },
    };
  };
})();

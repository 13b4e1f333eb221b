/* A templated chat as a stream, told by whom each part was written, with what opens the answer and
 * typed control text marked.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  /** Text with its line breaks marked and made; typed control text flagged. */
  function lines(text, flags) {
    const nodes = [];
    text.split("\n").forEach((line, k) => {
      if (k) nodes.push(el("span", { class: "bot-sign", "aria-hidden": "true" }, "↵"), el("br"));
      for (const [part, flagged] of flagged_(line, flags)) nodes.push(flagged ? el("mark", { class: "bot-form-flag" }, BOT.visible(part, true)) : BOT.visible(part, true));
    });
    return nodes;
  }

  /** [[part, whether it is one of `flags`], …]: the longest one first where several begin. */
  function flagged_(line, flags) {
    const found = [];
    const known = [...flags].sort((a, b) => b.length - a.length);
    let plain = "";
    for (let at = 0; at < line.length;) {
      const flag = known.find((f) => line.startsWith(f, at));
      if (flag) {
        if (plain) found.push([plain, false]);
        found.push([flag, true]);
        plain = "";
      } else plain += line[at];
      at += flag ? flag.length : 1;
    }
    if (plain) found.push([plain, false]);
    return found;
  }

  /** Tokens of one writer together: [{source, special, hex, tokens, opens}]; opens: they open the answer.
   *  `from`: the character from where on they do; a token that reaches over it does too. */
  function parts(tokens, from = Infinity) {
    const found = [];
    for (const t of tokens) {
      const opens = Number.isInteger(t.end) && t.end > from;
      const last = found[found.length - 1];
      if (last && last.source === t.source && !last.special && !t.special && last.opens === opens) {
        last.hex += t.hex;
        last.tokens += 1;
      } else found.push({ source: t.source, special: t.special, hex: t.hex, tokens: 1, opens });
    }
    return found;
  }

  const countOf = (n) => BOT.t(n === 1 ? "panel.template.part_one" : "panel.template.part", { n: BOT.num(n) });

  /** Fill `node` with the stream of these tokens. */
  function stream(node, tokens, { opens, flags = [] } = {}) {
    let box = null; // what opens the answer
    const nodes = [];
    for (const part of parts(tokens, opens)) {
      const { text } = BOT.piece(part.hex);
      const typed = part.source === "user" || part.source === "system" || part.source === "assistant";
      const inner = text === null ? [el("span", { class: "bot-hexpiece" }, BOT.hex(part.hex))] : lines(text, typed && !part.special ? flags : []);
      const name = part.special && typed ? BOT.t("panel.families.injected") : BOT.sourceName(part.special ? "special" : part.source);
      const span = el("span", { class: `${part.special ? "bot-special" : "bot-part"}${part.special && typed ? " is-injected" : ""}`, "data-source": part.source, title: `${name}, ${countOf(part.tokens)}` }, inner);
      if (!part.opens) nodes.push(span);
      else if (box) box.append(span);
      else nodes.push((box = BOT.say(el("span", { class: "bot-form-opens" }, span), "panel.families.opens", "title")));
    }
    node.replaceChildren(...nodes);
  }

  /** formCard({name, pick}) -> {node, set(form, chosen), lang()}: one template with the chat in it. */
  BOT.formCard = ({ name, pick }) => {
    const title = BOT.say(el("button", { class: "bot-form-name", type: "button", on: { click: pick } }), `panel.families.form.${name}`);
    const counts = el("span", { class: "bot-form-counts" });
    const text = el("div", { class: "bot-form-text", dir: "auto", tabindex: 0, role: "region" });
    BOT.say(text, `panel.families.form.${name}`, "aria-label");
    const marks = el("p", { class: "bot-form-note", hidden: true });
    const notes = el("ul", { class: "bot-form-notes" });
    const node = el("section", { class: "bot-form" }, el("header", { class: "bot-form-head" }, title, counts),
      BOT.say(el("p", { class: "bot-hint" }), `panel.families.about.${name}`), text, marks, notes);

    return {
      node, name,
      choose(on) {
        node.classList.toggle("is-chosen", on);
        BOT.setAttr(title, "aria-pressed", on);
      },
      set(form, flags) {
        const special = form.tokens.filter((t) => t.special).length;
        text.hidden = Boolean(form.error);
        BOT.setText(counts, form.error ? "" : BOT.t("panel.families.counts", { n: BOT.num(form.tokens.length), k: special }));
        if (!form.error) stream(text, form.tokens, { opens: form.opens, flags });
        const own = form.tokens.some((t) => t.special && t.source === "template");
        const foreign = !form.error && !own && name !== "plain" && name !== "none";
        marks.hidden = !foreign && !form.error;
        BOT.setText(marks, form.error ? BOT.pick(form.error) : foreign ? BOT.t("panel.families.marks") : "");
        const opening = form.error || form.opens < [...form.text].length ? [] : [BOT.t("panel.families.no_opening")];
        notes.replaceChildren(...[...opening, ...form.notes.map(([key, values]) => BOT.t(key, shown(values)))].map((said) => el("li", null, said)));
      },
    };
  };

  /** Values of a note with what can not be seen marked. */
  const shown = (values) => Object.fromEntries(Object.entries(values).map(([k, v]) => [k, typeof v === "string" ? `\u2068${v.split("\n").map((line) => BOT.marks(line, true).map((run) => run[1]).join("")).join("↵")}\u2069` : v]));

  BOT.formStream = stream;
})();

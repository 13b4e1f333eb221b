/* The ten digits as answers: two bars for each, one for either question. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  /** digitBars(key) -> {node, set({heading, a, b, most, right, bestA, bestB, then})}: a, b: probabilities of 0 … 9; most: what a
   *  full bar is; right: the correct digit or null; then: the two answers that go on from here. */
  BOT.digitBars = (key) => {
    const rows = Array.from({ length: 10 }, (_, digit) => {
      const name = el("span", { class: "bot-digit-name" }, String(digit));
      const line = (side) => {
        const bar = el("i", { class: `bot-duo-bar is-${side}`, "aria-hidden": "true" });
        const number = el("span", { class: "bot-duo-n" });
        return { bar, number, node: el("span", { class: "bot-digit-line" }, el("span", { class: "bot-duo-track" }, bar), number) };
      };
      const [a, b] = [line("a"), line("b")];
      const right = el("span", { class: "bot-digit-right" });
      return { a, b, right, node: el("li", { class: "bot-digit" }, name, el("span", null, a.node, b.node), right) };
    });
    const title = el("h4", { class: "bot-digit-title" });
    const sum = el("p", { class: "bot-digit-sum" });
    const best = ["a", "b"].map((side) => el("p", { class: `bot-digit-best is-${side}` }));
    const then = el("p", { class: "bot-digit-then" });
    const list = BOT.say(el("ol", { class: "bot-digits" }, rows.map((r) => r.node)), "panel.letters.bars", "aria-label");
    const node = el("section", { class: "bot-digit-part" }, title, BOT.say(el("p", { class: "bot-hint" }), `panel.letters.hint_${key}`), list, sum, best, then);

    function put(part, p, most, side) {
      part.bar.style.setProperty("--share", most > 0 ? p / most : 0);
      BOT.setText(part.number, BOT.prob(p));
      BOT.setAttr(part.number, "title", `${side}: ${BOT.exact(p)}`);
    }

    return {
      node,
      set({ heading, a, b, most, right, bestA, bestB, then: texts }) {
        BOT.setText(title, heading);
        rows.forEach((row, d) => {
          put(row.a, a[d], most, "A");
          put(row.b, b[d], most, "B");
          row.node.classList.toggle("is-right", d === right);
          BOT.setText(row.right, d === right ? BOT.t("panel.letters.right") : "");
        });
        const total = (p) => BOT.prob(Math.min(1, p.reduce((s, x) => s + x, 0)));
        BOT.setText(sum, BOT.t("panel.letters.sum", { a: total(a), b: total(b) }));
        then.hidden = !texts;
        then.replaceChildren(...(texts ? [BOT.t("panel.letters.then"), " ", ...texts.map((text, k) => el("span", { class: "bot-digit-goes" }, el("span", { class: `bot-pair-letter is-${"ab"[k]}` }, "AB"[k]), el("b", null, BOT.oneLine(text))))] : []));
        [bestA, bestB].forEach((tokens, k) => {
          best[k].replaceChildren(el("span", { class: `bot-pair-letter is-${"ab"[k]}` }, "AB"[k]), BOT.t("panel.letters.best"), " ",
            ...tokens.map(([id, hex, special, p]) => el("span", { class: "bot-digit-tok", title: `id ${id}: ${BOT.exact(p)}` },
              el("span", { class: special ? "bot-special" : "bot-tok" }, hex ? BOT.pieceNode(hex) : "∅"), " ", BOT.prob(p))));
        });
      },
    };
  };
})();

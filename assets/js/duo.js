/* Two probabilities of each token side by side: one bar over the other, each with its letter, its
 * pattern and its number. Used where two distributions are compared.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  /** A token's text, or ∅ for a row of the table that has no token. */
  BOT.tokenOrNone = (hex) => BOT.tokenText(hex) || "∅";

  /** duo({label, first, second}) -> {node, set(rows)}: label, first, second are text keys (what is
   *  shown; the names of the two). Rows: {hex, special, a, b, rankA, rankB, mark, note}; mark: the
   *  token is pointed at, note: why, in words. The longest bar is full width. */
  BOT.duo = ({ label, first, second }) => {
    const legend = el("p", { class: "bot-duo-legend" }, [["a", first], ["b", second]].map(([name, key]) =>
      el("span", null, el("i", { class: `bot-duo-bar is-${name}`, "aria-hidden": "true" }), BOT.say(el("span"), key))));
    const list = BOT.say(el("ol", { class: "bot-duo-rows" }), label, "aria-label");
    const node = el("div", { class: "bot-duo" }, legend, list);
    const pool = [];

    function line(name) {
      const bar = el("i", { class: `bot-duo-bar is-${name}`, "aria-hidden": "true" });
      const number = el("span", { class: "bot-duo-n" });
      const rank = el("span", { class: "bot-duo-rank" });
      return { bar, number, rank, node: el("span", { class: "bot-duo-line" }, el("span", { class: "bot-duo-track" }, bar), number, rank) };
    }

    function row() {
      const token = el("span", { class: "bot-duo-token" });
      const note = el("span", { class: "bot-duo-note" });
      const [a, b] = [line("a"), line("b")];
      const item = el("li", { class: "bot-duo-row" }, el("span", { class: "bot-duo-name" }, token, note), el("span", { class: "bot-duo-lines" }, a.node, b.node));
      list.append(item);
      return { item, token, note, a, b };
    }

    function put(part, p, rank, most, key) {
      part.bar.style.setProperty("--share", most > 0 ? Math.min(1, p / most) : 0);
      BOT.setText(part.number, BOT.prob(p));
      BOT.setAttr(part.number, "title", `${BOT.t(key)}: ${BOT.exact(p, true)}`);
      BOT.setText(part.rank, BOT.t("panel.contrast.rank", { rank: BOT.num(rank) }));
    }

    return {
      node,
      set(rows) {
        const most = rows.reduce((top, r) => Math.max(top, r.a, r.b), 0);
        while (pool.length < rows.length) pool.push(row());
        pool.forEach((at, k) => {
          at.item.hidden = k >= rows.length;
          if (at.item.hidden) return;
          const r = rows[k];
          BOT.show(at.token, BOT.tokenOrNone(r.hex), true);
          at.token.classList.toggle("is-special", Boolean(r.special));
          BOT.setText(at.note, r.note || "");
          BOT.setAttr(at.item, "aria-current", r.mark ? "true" : null);
          put(at.a, r.a, r.rankA, most, first);
          put(at.b, r.b, r.rankB, most, second);
        });
      },
    };
  };
})();

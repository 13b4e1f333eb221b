/* The symbols of a word at one moment, in a row: the pair that comes next is marked, what was just joined
 * closes up. Every symbol that there ever is has its box from the start; a step shows and hides.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  /** mergeRow() -> {node, set(model, story), step(s)}. */
  BOT.mergeRow = () => {
    const row = el("div", { class: "bot-merges-row", role: "img" });
    let model = null;
    let boxes = []; // by node
    let wide = 0;

    function box(n, id) {
      const { text, inHex, hex, unknown } = model.nodes[n];
      const bytes = hex.length / 2;
      return el("span", { class: `bot-merges-box${inHex ? " is-hex" : ""}${unknown ? " is-unknown" : ""}`, hidden: true },
        el("bdi", null, text),
        inHex || unknown || bytes === [...text].length ? null : el("small", null, BOT.hex(hex)),
        id === null ? null : el("b", null, String(id)));
    }

    /** As tall as it is at the start, so that nothing below moves. */
    function stay() {
      row.style.minHeight = "";
      if (!model) return;
      const now = boxes.map((b) => b.hidden);
      boxes.forEach((b, n) => { b.hidden = model.nodes[n].born > 0; });
      const first = row.offsetHeight;
      boxes.forEach((b, n) => { b.hidden = model.nodes[n].gone !== Infinity; });
      row.style.minHeight = `${Math.max(first, row.offsetHeight)}px`;
      boxes.forEach((b, n) => { b.hidden = now[n]; });
    }

    new ResizeObserver(() => {
      if (Math.abs(row.clientWidth - wide) < 2) return;
      wide = row.clientWidth;
      stay();
    }).observe(row);

    return {
      node: row,
      set(next, ids) {
        model = next;
        boxes = model.nodes.map((_, n) => box(n, model.roots.includes(n) ? ids[model.roots.indexOf(n)] : null));
        // No two of those shown at a time are one in the other: before its parts is a place for all.
        const order = model.nodes.map((_, n) => n).sort((a, b) => model.nodes[a].from - model.nodes[b].from || model.nodes[b].to - model.nodes[a].to);
        row.replaceChildren(...order.map((n) => boxes[n]));
        wide = row.clientWidth;
        stay();
      },
      /** The state after s merges. */
      step(s, says) {
        const next = model.merges[s];
        model.nodes.forEach(({ born, gone }, n) => {
          const there = born <= s && s < gone;
          if (boxes[n].hidden === there) boxes[n].hidden = !there;
          if (!there) return;
          const list = boxes[n].classList;
          list.toggle("is-pair", Boolean(next) && (n === next.left || n === next.right));
          list.toggle("is-left", Boolean(next) && n === next.left);
          list.toggle("is-new", born === s && s > 0);
        });
        row.classList.toggle("is-end", s === model.merges.length);
        BOT.setAttr(row, "aria-label", says);
      },
    };
  };
})();

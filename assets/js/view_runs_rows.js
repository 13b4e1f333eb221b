/* A long table under a line that opens it: only the rows on screen exist, and only while it is open. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  /** foldRows({label, columns: [{key, width, class}], row(i) -> [text or {text, title, hex}, …], go(i)})
   *  -> {node, draw(n, current, fresh)}: n rows, one marked (-1: none). fresh: a row may say another
   *  thing than it did. A cell {hex} is a token, {title} has the exact value in its title. */
  BOT.foldRows = ({ label, columns, row, go }) => {
    const table = BOT.rows({ label, columns, draw: fill, go: go || (() => {}) });
    const node = el("details", { class: "bot-fold", on: { toggle: () => show() } }, BOT.say(el("summary"), label), table.node);
    let want = { n: 0, current: -1 };
    let stale = true;
    let n = -1;

    function fill(cells, i) {
      row(i).forEach((value, k) => {
        const { text, title, hex } = value !== null && typeof value === "object" ? value : { text: value };
        BOT.show(cells[k], hex === undefined ? String(text) : BOT.tokenText(hex), true);
        BOT.setAttr(cells[k], "title", title === undefined ? null : title);
      });
    }

    function show() {
      if (!node.open) return;
      if (stale) table.redraw();
      stale = false;
      if (n !== want.n) table.set((n = want.n));
      table.current(want.current);
    }

    return {
      node,
      draw(rows, current, fresh) {
        want = { n: rows, current };
        stale = stale || fresh;
        show();
      },
    };
  };
})();

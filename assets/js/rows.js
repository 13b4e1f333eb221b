/* A long table that stays small: only the rows on screen exist, and they are used again. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const SPARE = 6; // rows kept ready above and below what is seen

  /** rows({label, columns: [{key, width, class}], draw(cells, i), go(i)}) ->
   *  {node, set(n), current(i), redraw()}. Row i is drawn by setting its cells' text. */
  BOT.rows = ({ label, columns, draw, go }) => {
    const head = el("tr", { "aria-rowindex": 1 },
      columns.map((c) => BOT.say(el("th", { scope: "col", class: c.class }), c.key)));
    const above = el("tr", { class: "bot-rows-gap", "aria-hidden": "true" }, el("td", { colspan: columns.length }));
    const below = el("tr", { class: "bot-rows-gap", "aria-hidden": "true" }, el("td", { colspan: columns.length }));
    const body = el("tbody", { on: { click: pick } }, above, below);
    const table = el("table", { class: "bot-table bot-rows" },
      el("colgroup", null, columns.map((c) => el("col", { style: { width: c.width } }))),
      el("thead", null, head), body);
    table.style.minWidth = `calc(${columns.map((c) => c.width).join(" + ")})`;
    const node = BOT.say(el("div", { class: "bot-table-wrap bot-rows-wrap", tabindex: 0, role: "region",
      on: { scroll: scrolled } }, table), label, "aria-label");

    const pool = []; // {row, cells, i}
    let total = 0;
    let now = -1;
    let [from, to] = [0, 0];
    let marked = null;

    function scrolled() {
      top = node.scrollTop;
      requestAnimationFrame(place);
    }

    function pick(event) {
      const row = event.target.closest("tr[data-i]");
      if (row) go(Number(row.dataset.i));
    }

    function grow(size) {
      while (pool.length < size) {
        const cells = columns.map((c) => el("td", { class: c.class }));
        const row = el("tr", null, cells);
        body.insertBefore(row, below);
        pool.push({ row, cells, i: null });
      }
    }

    // Read once, not at each step: a read after a write makes the browser lay the page out again.
    let tall = 36;
    let room = 320;
    let top = 0;

    function measure() {
      tall = parseFloat(getComputedStyle(node).getPropertyValue("--row")) || 36;
      room = node.clientHeight || 320;
      top = node.scrollTop;
      place();
    }
    new ResizeObserver(measure).observe(node);

    function place() {
      grow(Math.min(total, Math.ceil(room / tall) + 2 * SPARE));
      const first = Math.max(0, Math.min(total - pool.length, Math.floor(top / tall) - SPARE));
      const end = Math.min(total, first + pool.length);
      if (first !== from || end !== to) {
        above.firstChild.style.height = `${first * tall}px`;
        below.firstChild.style.height = `${Math.max(0, total - end) * tall}px`;
        [from, to] = [first, end];
      }
      pool.forEach((line, k) => {
        const i = first + k;
        const there = i < total;
        if (line.row.hidden === there) line.row.hidden = !there;
        if (line.i !== i && there) {
          line.i = i;
          line.row.dataset.i = String(i);
          BOT.setAttr(line.row, "aria-rowindex", i + 2);
          draw(line.cells, i);
        }
      });
      mark();
    }

    function mark() {
      const line = now >= from && now < to ? pool[now - from] : null;
      if (line === marked) return;
      if (marked) marked.row.removeAttribute("aria-current");
      if (line) line.row.setAttribute("aria-current", "step");
      marked = line;
    }

    return {
      node,
      /** There are n rows now. */
      set(n) {
        total = n;
        BOT.setAttr(table, "aria-rowcount", n + 1);
        to = -1; // the gap below has changed
        place();
      },
      /** Mark row i and bring it into the table's own view (the page does not move). */
      current(i) {
        now = i;
        const free = room - 2 * tall; // the head covers one row
        if (free > 0 && i >= 0 && (i * tall < top || i * tall > top + free - tall)) {
          top = Math.max(0, i * tall - free / 2);
          place(); // first the rows, so that there is something to scroll to
          node.scrollTop = top;
        } else mark();
      },
      redraw() {
        for (const line of pool) line.i = null;
        place();
      },
    };
  };
})();

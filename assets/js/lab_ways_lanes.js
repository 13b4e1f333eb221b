/* Several cuts of one text above one another, a column for each byte: rows of cells that share their
 * places. What is looked at lights up in every row. Long texts go on in further lines, of which only
 * those on screen exist.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const GUTTER = 10; // em, names beside the rows
  const NARROW = 44; // em: there they stand above them
  const CAPTION = 1.25; // em
  const GAP = 1.5; // em, between lines
  const LARGEST = 1.35; // a short text is drawn larger
  const MOST_TALL = 580; // px
  const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
  const SPARE = 1; // lines kept ready above and below what is seen

  /** lanes({label, column, read({row, i, from, to}) -> [[name, text], …]}) -> {node, set(model),
   *  go(row, i)}.
   *
   *  label: text key of the picture's name. column: em. read: what stands under the picture of a
   *  stretch. model: {text, n: columns, good: see wrapColumns, rules: columns where a line runs through
   *  all rows, rows: [{name, note, tall (em), n, from(i), to(i), fill(i, node)}]}. Columns that no
   *  cell of a row covers are hatched. */
  BOT.lanes = ({ label, column, read }) => {
    const space = el("div", { class: "bot-lanes-space", "aria-hidden": "true" });
    const scroller = BOT.say(el("div", { class: "bot-lanes", tabindex: 0, role: "application", "data-bot-keys": "own",
      on: { scroll: () => requestAnimationFrame(place), mouseover: over, mouseleave: () => look(null), click, keydown, focus: () => look(null) } }, space), label, "aria-label");
    const said = el("dl", { class: "bot-lanes-read", "aria-live": "polite" });
    const where = el("p", { class: "bot-hint" });
    const leftward = BOT.say(el("p", { class: "bot-hint", hidden: true }), "panel.ways.leftward");
    const node = el("div", { class: "bot-lanes-box" }, scroller, where, leftward, said);

    let model = null;
    let starts = [0];
    let px = 16; // of an em in the picture
    let tall = 0; // em, of a line without its gap
    let beside = true;
    let at = { row: 0, i: 0 };
    let looked = null;
    let width = 0;
    const drawn = new Map(); // line -> {node, cells}
    const cellOf = new WeakMap();
    const pairs = [];

    /* ---- lines ---- */

    const nLines = () => starts.length - 1;
    const lineOf = (c) => BOT.firstPast(nLines(), c, (k) => starts[k + 1]);

    function layOut() {
      width = scroller.clientWidth;
      if (!width || !model) return;
      const em = parseFloat(getComputedStyle(scroller).fontSize);
      beside = width / em > NARROW;
      const gutter = beside ? GUTTER : 0;
      const grown = Math.max(1, Math.min(LARGEST, (width - 2) / em / (gutter + model.n * column + 0.2)));
      px = em * grown;
      space.style.fontSize = `${grown}em`;
      const most = Math.max(4, Math.floor((width / px - gutter - 0.2) / column));
      starts = BOT.wrapColumns(model.n, most, model.good);
      tall = model.rows.reduce((sum, row) => sum + row.tall + (beside ? 0 : CAPTION), 0);
      const high = (n) => (n * (tall + GAP) - GAP) * px;
      space.style.height = `${Math.max(0, high(nLines()))}px`;
      // Whole lines, as many as there is room for.
      const limit = Math.min(MOST_TALL, 0.7 * window.innerHeight);
      scroller.style.height = `${high(Math.max(1, Math.min(nLines(), Math.floor((limit + GAP * px) / ((tall + GAP) * px))))) + 4}px`;
      for (const { node: old } of drawn.values()) old.remove();
      drawn.clear();
      place();
    }

    function place() {
      if (!model) return;
      const step = (tall + GAP) * px;
      const top = scroller.scrollTop;
      const first = Math.max(0, Math.floor(top / step) - SPARE);
      const last = Math.min(nLines() - 1, Math.floor((top + (scroller.clientHeight || 600)) / step) + SPARE);
      const shown = [Math.round(top / step), Math.min(nLines(), Math.round((top + scroller.clientHeight) / step))];
      where.hidden = shown[1] - shown[0] >= nLines();
      BOT.setText(where, BOT.t("panel.ways.lines", { from: BOT.num(shown[0] + 1), to: BOT.num(shown[1]), total: BOT.num(nLines()) }));
      for (const [line, { node: old }] of drawn) {
        if (line >= first && line <= last) continue;
        old.remove();
        drawn.delete(line);
      }
      for (let line = first; line <= last; line++) {
        if (drawn.has(line)) continue;
        const made = build(line);
        drawn.set(line, made);
        space.append(made.node);
        light(made);
      }
    }

    function build(line) {
      const [from, to] = [starts[line], starts[line + 1]];
      const left = (c) => (beside ? GUTTER : 0) + (c - from) * column;
      const made = { node: el("div", { class: "bot-lanes-line", style: { top: `${line * (tall + GAP)}em`, height: `${tall}em` } }), cells: [] };
      const rules = model.rules || [];
      for (let k = BOT.firstPast(rules.length, from, (j) => rules[j]); k < rules.length && rules[k] < to; k++) {
        made.node.append(el("i", { class: "bot-lanes-rule", style: { left: `${left(rules[k])}em` } }));
      }
      let y = 0;
      model.rows.forEach((row, r) => {
        y += beside ? 0 : CAPTION;
        made.node.append(el("span", { class: `bot-lanes-name${beside ? "" : " is-above"}`, title: row.name, style: {
          top: `${beside ? y : y - CAPTION}em`, height: `${beside ? row.tall : CAPTION}em`, width: beside ? `${GUTTER}em` : "100%" } },
          el("b", null, el("bdi", null, row.name)), " ", row.note ? el("span", null, row.note) : null));
        let end = from;
        const gap = (a) => {
          if (a > end) made.node.append(el("i", { class: "bot-lanes-gap", style: { top: `${y}em`, height: `${row.tall}em`, left: `${left(end)}em`, width: `${(a - end) * column}em` } }));
        };
        for (let i = BOT.firstPast(row.n, from - 1e-9, row.to); i < row.n && row.from(i) < to; i++) {
          const [a, b] = [Math.max(from, row.from(i)), Math.min(to, row.to(i))];
          if (b === from && from > row.from(i)) continue; // ends where this line begins
          gap(a);
          end = Math.max(end, b);
          const cell = el("span", { class: "bot-lanes-cell", style: { top: `${y}em`, height: `${row.tall}em`,
            left: `${left(a)}em`, width: `max(${(b - a) * column}em, 0.35em)` } });
          row.fill(i, cell);
          cell.classList.toggle("goes-on", row.from(i) < from);
          cell.classList.toggle("is-cut", row.to(i) > to);
          const known = { node: cell, row: r, i, from: row.from(i), to: row.to(i) };
          cellOf.set(cell, known);
          made.cells.push(known);
          made.node.append(cell);
        }
        gap(to);
        y += row.tall;
      });
      return made;
    }

    /* ---- what is looked at ---- */

    const chosen = () => {
      const row = model.rows[at.row];
      return { ...at, from: row.from(at.i), to: row.to(at.i) };
    };

    function light({ cells }) {
      if (!model.n) return;
      const here = looked || chosen();
      for (const cell of cells) {
        const self = cell.row === here.row && cell.i === here.i;
        cell.node.classList.toggle("is-on", self || (cell.to > here.from && cell.from < here.to));
        cell.node.classList.toggle("is-at", self);
      }
    }

    function look(cell) {
      looked = cell;
      if (!model || !model.n) return;
      for (const line of drawn.values()) light(line);
      const found = read(looked || chosen());
      while (pairs.length < found.length) {
        const pair = [el("dt"), el("dd")];
        pairs.push(pair);
        said.append(...pair);
      }
      pairs.forEach(([name, text], k) => {
        name.hidden = text.hidden = k >= found.length;
        if (name.hidden) return;
        BOT.setText(name, found[k][0]);
        BOT.setText(text, found[k][1]);
      });
    }

    function over(event) {
      const cell = cellOf.get(event.target.closest(".bot-lanes-cell"));
      if (cell && cell !== looked) look(cell);
    }

    function click(event) {
      const cell = cellOf.get(event.target.closest(".bot-lanes-cell"));
      if (!cell) return;
      at = { row: cell.row, i: cell.i };
      look(cell);
    }

    function go(row, i) {
      if (!model || !model.n) return;
      at = { row, i: Math.max(0, Math.min(model.rows[row].n - 1, i)) };
      const step = (tall + GAP) * px;
      const top = lineOf(chosen().from) * step;
      if (top < scroller.scrollTop || top + tall * px > scroller.scrollTop + scroller.clientHeight) {
        scroller.scrollTop = Math.max(0, top - GAP * px);
        place();
      }
      look(null);
    }

    function keydown(event) {
      if (!model || !model.n) return;
      const { row, i } = at;
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: Infinity, PageDown: i + 20, PageUp: i - 20 }[event.key];
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (to !== undefined) go(row, to);
      else if (by) {
        const rows = model.rows.map((_, r) => r).filter((r) => model.rows[r].n);
        const next = rows[rows.indexOf(row) + by];
        if (next === undefined) return event.preventDefault();
        go(next, BOT.firstPast(model.rows[next].n, chosen().from, model.rows[next].to));
      } else return;
      event.preventDefault();
    }

    new ResizeObserver(() => {
      if (scroller.clientWidth !== width) layOut();
    }).observe(scroller);

    return {
      node, go,
      /** Another text, or the same in other words; `fresh`: look at its beginning. */
      set(next, fresh) {
        model = next;
        if (fresh) scroller.scrollTop = 0;
        leftward.hidden = !RIGHT_TO_LEFT.test(model.text);
        const first = model.rows.findIndex((row) => row.n);
        if (fresh || !model.rows[at.row] || at.i >= model.rows[at.row].n) at = { row: Math.max(0, first), i: 0 };
        layOut();
        look(null);
      },
    };
  };
})();

/* The byte ledger as a picture: lanes above one another, a column for each byte. Long texts go on in
 * further lines, of which only those on screen exist.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const words = BOT.ledgerWords;
  const { COLUMN, GUTTER, height, wrap, build } = BOT.ledgerLine;
  const GAP = 1.5; // em, between lines
  const NARROW = 34; // em: there the lanes are named above the picture, not beside it
  const SPARE = 1; // lines kept ready above and below what is seen
  let pictures = 0; // makes an option's DOM id unique

  /** ledgerPicture({pick(p)}) -> {node, lines, set(model), mark(p), lang()}. */
  BOT.ledgerPicture = ({ pick }) => {
    const name = `bot-ledger-${pictures++}`;
    const space = el("div", { class: "bot-ledger-space", role: "presentation" });
    const scroller = BOT.say(el("div", { class: "bot-ledger-pic", tabindex: 0, role: "listbox", "data-bot-keys": "own", "aria-orientation": "horizontal",
      on: { scroll: () => requestAnimationFrame(place), mouseover: over, mouseleave: () => look(null), click, keydown, focus: () => mark(at) } }, space), "panel.ledger.picture", "aria-label");
    const lanes = el("p", { class: "bot-hint bot-ledger-lanes" });
    const read = el("output", { class: "bot-ledger-read", "aria-live": "polite" });
    const node = el("div", { class: "bot-ledger-box" }, lanes, scroller, read);

    let model = null;
    let lines = [];
    let tops = [0]; // px, of each line, and the end of the last
    let em = 16;
    let most = 0; // columns in a line
    let gutter = false;
    let at = 0; // the piece chosen
    let looked = null; // what the pointer is on: {says, cols}
    const drawn = new Map(); // line -> {node, cells}

    /* ---- which lines are there ---- */

    const room = (wide) => Math.max(4, Math.floor((wide / em - (gutter ? GUTTER : 0)) / COLUMN));

    function layOut() {
      for (const { node: old } of drawn.values()) old.remove();
      drawn.clear();
      const wide = space.clientWidth;
      if (!wide) return;
      em = parseFloat(getComputedStyle(scroller).fontSize);
      gutter = wide / em > NARROW;
      lanes.hidden = gutter;
      most = room(wide);
      lines = wrap(model, most);
      tops = [0];
      for (const [, , changed] of lines) tops.push(tops[tops.length - 1] + (height(changed) + GAP) * em);
      space.style.height = `${Math.max(0, tops[lines.length] - GAP * em)}px`;
      place();
    }

    /** The line at height y. */
    function lineAt(y) {
      let [low, high] = [0, lines.length];
      while (low < high) {
        const k = (low + high) >> 1;
        if (tops[k + 1] <= y) low = k + 1;
        else high = k;
      }
      return low;
    }

    const lineOf = (p) => lines.findIndex(([from, to]) => model.cols[p][0] >= from && model.cols[p][0] < to);

    function place() {
      if (!lines.length) return;
      const top = scroller.scrollTop;
      const first = Math.max(0, lineAt(top) - SPARE);
      const last = Math.min(lines.length - 1, lineAt(top + (scroller.clientHeight || 600)) + SPARE);
      for (const [line, { node: old }] of drawn) {
        if (line >= first && line <= last) continue;
        old.remove();
        drawn.delete(line);
      }
      for (let line = first; line <= last; line++) {
        if (drawn.has(line)) continue;
        const made = build(model, lines[line], { top: tops[line], gutter, name });
        const next = Math.min(...[...drawn.keys()].filter((k) => k > line));
        space.insertBefore(made.node, drawn.has(next) ? drawn.get(next).node : null);
        drawn.set(line, made);
        light(made);
      }
      point();
    }

    /* ---- what is looked at ---- */

    function light({ cells }) {
      const [from, to] = looked ? looked.cols : model.cols[at] || [0, 0];
      for (const one of cells) {
        one.node.classList.toggle("is-on", one.from < to && one.to > from);
        if (one.node.id) BOT.setAttr(one.node, "aria-selected", one.piece === at);
      }
    }

    /** The chosen piece is the list's active one, and has its sentence as a name. */
    function point() {
      let id = null;
      for (const { cells } of drawn.values()) {
        const found = cells.find((one) => one.piece === at && one.node.id);
        if (!found) continue;
        id = id || found.node.id;
        BOT.setAttr(found.node, "aria-label", words.pieceSays(model, at));
      }
      BOT.setAttr(scroller, "aria-activedescendant", id);
    }

    function show() {
      for (const line of drawn.values()) light(line);
      BOT.setText(read, looked ? looked.says : model.ids.length ? words.pieceSays(model, at) : "");
    }

    function cellOf(event) {
      const hit = event.target.closest("[data-k]");
      const line = hit && [...drawn.values()].find((one) => one.node === hit.parentNode);
      return line ? line.cells[hit.dataset.k] : null;
    }

    function says(one) {
      if (one.piece !== undefined) return words.pieceSays(model, one.piece);
      if (one.character !== undefined) return words.characterSays(model, one.character);
      return one.unit !== undefined ? words.unitSays(model, one.unit) : words.byteSays(model, one.column);
    }

    function look(one) {
      if (!model || (!one && !looked)) return;
      looked = one ? { says: says(one), cols: [one.from, one.to] } : null;
      show();
    }
    function over(event) {
      look(cellOf(event));
    }
    function click(event) {
      const one = cellOf(event);
      if (!one) return;
      const p = one.piece !== undefined ? one.piece : model.piece[one.from];
      if (p >= 0) pick(p);
    }

    function keydown(event) {
      if (!model || !model.ids.length) return;
      const last = model.ids.length - 1;
      const to = { ArrowRight: () => at + 1, ArrowLeft: () => at - 1, ArrowDown: () => beside(1), ArrowUp: () => beside(-1),
        Home: () => 0, End: () => last, PageDown: () => beside(8), PageUp: () => beside(-8) }[event.key];
      if (!to) return;
      event.preventDefault();
      looked = null;
      pick(Math.max(0, Math.min(last, to())));
    }

    /** The piece at the same place, some lines further. */
    function beside(by) {
      const line = lineOf(at);
      const to = Math.max(0, Math.min(lines.length - 1, line + by));
      if (to === line) return by > 0 ? model.ids.length - 1 : 0;
      const column = lines[to][0] + model.cols[at][0] - lines[line][0];
      for (let c = Math.min(lines[to][1] - 1, column); c < model.piece.length; c++) if (model.piece[c] >= 0) return model.piece[c];
      return at;
    }

    /** Choose a piece here; its line comes into the picture's own view. */
    function mark(p) {
      if (!model || !model.ids.length) return;
      at = p;
      const line = lineOf(p);
      if (line >= 0) {
        const [top, tall] = [scroller.scrollTop, scroller.clientHeight];
        if (tops[line] < top) scroller.scrollTop = tops[line];
        else if (tops[line + 1] - GAP * em > top + tall) scroller.scrollTop = tops[line + 1] - GAP * em - tall;
        place();
      }
      show();
      point();
    }

    function draw() {
      looked = null;
      BOT.setText(lanes, BOT.t("panel.ledger.lanes", { signs: BOT.t(`panel.ledger.lane.${model.how === "bytes" ? "sign" : "written"}`) }));
      layOut();
      show();
    }

    new ResizeObserver(() => {
      if (model && space.clientWidth && (room(space.clientWidth) !== most || !drawn.size)) layOut();
    }).observe(scroller);

    return {
      node, mark,
      get lines() { return lines.length; },
      set(next) {
        model = next;
        at = 0;
        lines = [];
        scroller.scrollTop = 0;
        draw();
      },
      lang() {
        if (model) draw();
      },
    };
  };
})();

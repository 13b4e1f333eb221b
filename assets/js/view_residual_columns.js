/* A drawing in equal columns (layers, or the parts of a sum) with a cursor and a line of words.
 *
 * The frame knows the width, the pointer and the keys; what is drawn comes from its owner, who moves
 * nodes on a step and makes them only for other data.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, svg, put } = BOT;

  const NARROW = 560; // px under which there is less room beside the drawing
  const EDGE = 8; // px free at the right

  /** columns({label, read(k), pick(k), place(space), paint(space)}) ->
   *  {node, art, set(n), redraw(), paint(), mark(k), lang()}.
   *
   *  label: text key of its name. read: the words of a column. place(space) -> height in px: what
   *  stands still, for another width, data or language; paint(space): the numbers of the step.
   *  space: {n, left, right, width, w: of a column, x(k): its left edge}. art: the group to draw in. */
  BOT.residualColumns = (def) => {
    const art = svg("g");
    const [cursor, marked] = ["cursor", "marked"].map((kind) => svg("rect", { class: `bot-cols-${kind}`, y: 0, hidden: "" }));
    const node = svg("svg", { class: "bot-cols", tabindex: 0, role: "application", "data-bot-keys": "own",
      on: { pointermove: over, pointerleave: leave, click, keydown, focus: () => move(at), blur: draw } }, marked, art, cursor);
    BOT.say(node, def.label, "aria-label");
    const line = el("output", { class: "bot-readout bot-cols-read", "aria-live": "polite" });
    const frame = el("div", { class: "bot-cols-frame" }, node);
    let [n, width, height, at, hover, mark] = [0, 0, 0, 0, null, null];

    const space = () => {
      const left = width < NARROW ? 38 : 56;
      const right = width - EDGE;
      const w = (right - left) / Math.max(1, n);
      return { n, left, right, width, w, x: (k) => left + k * w };
    };

    function draw() {
      if (!n || !width) return;
      const { x, w } = space();
      const seen = hover !== null ? hover : document.activeElement === node ? at : null;
      for (const [rect, k] of [[cursor, seen], [marked, mark]]) {
        BOT.setAttr(rect, "hidden", k === null ? "" : null);
        if (k !== null) put(rect, { x: x(k), width: w, height });
      }
      BOT.setText(line, def.read(seen === null ? (mark === null ? at : mark) : seen));
    }

    function paint() {
      if (!n || !width) return;
      def.paint(space());
      draw();
    }

    function redraw() {
      if (!n || !width) return;
      height = def.place(space());
      put(node, { width, height, viewBox: `0 0 ${width} ${height}` });
      paint();
    }

    function under(event) {
      const { left, w } = space();
      const k = Math.floor((event.clientX - node.getBoundingClientRect().left - left) / w);
      return k >= 0 && k < n ? k : null;
    }

    function over(event) {
      const k = under(event);
      if (k === hover) return;
      hover = k;
      draw();
    }

    function leave() {
      hover = null;
      draw();
    }

    function click(event) {
      const k = under(event);
      if (k === null) return;
      at = k;
      if (def.pick) def.pick(k);
    }

    function move(k) {
      at = Math.max(0, Math.min(n - 1, k));
      draw();
    }

    function keydown(event) {
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: n - 1 }[event.key];
      if (to !== undefined) move(to);
      else if (def.pick && (event.key === "Enter" || event.key === " ")) def.pick(at);
      else return;
      event.preventDefault();
    }

    BOT.onWidth(frame, (next) => {
      width = next;
      redraw();
    });

    return {
      node: el("div", { class: "bot-cols-box" }, frame, line), art, redraw, paint,
      set(count) {
        n = count;
        at = Math.max(0, Math.min(at, n - 1));
        hover = null;
        redraw();
      },
      mark(k) {
        mark = k === null || k >= n ? null : k;
        draw();
      },
    };
  };

  /** Values to mark on an axis from 0 to `most`, of 1, 2 and 5, that stand at least `gap` apart;
   *  scale: value -> px, rising. */
  BOT.marksUpTo = (most, scale, gap = 18) => {
    const found = [];
    let last = Infinity;
    for (let power = Math.floor(Math.log10(most)); power > -8 && found.length < 4; power--) {
      for (const digit of [5, 2, 1]) {
        const value = digit * 10 ** power;
        if (value > most || last - scale(value) < gap || scale(value) < gap * 0.8 || found.length > 3) continue;
        found.push(value);
        last = scale(value);
      }
      if (scale(10 ** power) < gap * 0.8) break;
    }
    return found;
  };

  /** Which of n columns of width w get their number written under them. */
  BOT.everyColumn = (n, w, least = 24) => {
    const every = [1, 2, 5, 10, 20, 50].find((k) => k * w >= least) || 100;
    return Array.from({ length: n }, (_, k) => k).filter((k) => k % every === 0);
  };
})();

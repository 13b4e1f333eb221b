/* All scores of one step as a histogram with a logarithmic count, and the first candidates as pins
 * above it: the highest has the longest one, so that no name lies on another. The axes are those of
 * the whole answer: from step to step only the picture moves.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, svg } = BOT;
  const LEFT = 58;
  const RIGHT = 18;
  const ROW = 19; // px, between two names
  const PLOT = 190;
  const FOOT = 46;
  const BELOW_ONE = 0.4; // of a power of ten: how tall a bin with one token is

  /** scoreHistogram(pins) -> {node, axes(low, high, most), set(edges, counts, marks), draw()}.
   *  marks: [{score, text, chosen}] by falling score, at most `pins`. most: of tokens in a bin. */
  BOT.scoreHistogram = (pins) => {
    const top = pins * ROW + 14;
    const foot = top + PLOT;
    const bars = svg("path", { class: "bot-hist-bars" });
    const now = svg("path", { class: "bot-hist-now" });
    const axis = svg("path", { class: "bot-hist-axis" });
    const half = svg("path", { class: "bot-hist-half" });
    const grid = svg("g", { class: "bot-hist-ticks" });
    const nameX = BOT.say(svg("text", { class: "bot-hist-name", "text-anchor": "end", y: foot + 40 }), "panel.lm_head.axis.x");
    const nameY = BOT.say(svg("text", { class: "bot-hist-name", x: 0, y: top - 12 }), "panel.lm_head.axis.y");
    const marks = Array.from({ length: pins }, () => {
      const stem = svg("path", { class: "bot-hist-stem" });
      const head = svg("path", { class: "bot-hist-head" });
      const name = svg("text", { class: "bot-hist-pin" });
      return { stem, head, name, node: svg("g", { visibility: "hidden" }, stem, head, name) };
    });
    const picture = svg("svg", { class: "bot-hist", height: foot + FOOT, tabindex: 0, role: "slider", "data-bot-keys": "own", "aria-valuemin": 0,
      on: { pointermove: over, keydown } }, grid, bars, now, half, axis, nameX, nameY, marks.map((mark) => mark.node));
    BOT.say(picture, "panel.lm_head.chart_label", "aria-label");
    const readout = el("output", { class: "bot-readout", "aria-live": "polite" });
    const node = el("div", { class: "bot-hist-box" }, picture, readout);

    let scale = { low: 0, high: 1, powers: 1 };
    let shown = null; // {edges, counts, marks}
    let width = 0;
    let at = -1;

    const x = (score) => LEFT + ((score - scale.low) / (scale.high - scale.low)) * (width - LEFT - RIGHT);
    const y = (count) => foot - ((Math.log10(count) + BELOW_ONE) / (scale.powers + BELOW_ONE)) * PLOT;
    const box = (k) => {
      const { edges, counts } = shown;
      const [a, b] = [x(edges[k]), x(edges[k + 1])];
      return counts[k] ? `M${a.toFixed(1)} ${foot}V${y(counts[k]).toFixed(1)}H${Math.max(a + 0.7, b - 0.7).toFixed(1)}V${foot}Z` : "";
    };

    /** Where half of all scores lie below, taken evenly inside its bin. */
    function middle({ edges, counts }) {
      let left = counts.reduce((sum, n) => sum + n, 0) / 2;
      for (let k = 0; k < counts.length; k++) {
        if (left <= counts[k]) return edges[k] + (edges[k + 1] - edges[k]) * (counts[k] ? left / counts[k] : 0);
        left -= counts[k];
      }
      return edges[edges.length - 1];
    }

    function frame() {
      const ticks = BOT.ticks(scale.low, scale.high, Math.max(3, Math.floor(width / 70)));
      grid.replaceChildren(
        ...ticks.map((t) => svg("text", { x: x(t), y: foot + 18, "text-anchor": "middle" }, Number.isInteger(t) ? BOT.num(t).replace("-", "−") : BOT.sig(t, 3))),
        ...Array.from({ length: scale.powers + 1 }, (_, k) => [
          svg("path", { d: `M${LEFT} ${y(10 ** k).toFixed(1)}H${width - RIGHT}` }),
          svg("text", { x: LEFT - 8, y: y(10 ** k) + 4, "text-anchor": "end" }, BOT.num(10 ** k)),
        ]).flat());
      BOT.setAttr(axis, "d", `M${LEFT} ${foot}H${width - RIGHT}${ticks.map((t) => `M${x(t).toFixed(1)} ${foot}v5`).join("")}`);
      BOT.setAttr(nameX, "x", width - RIGHT);
    }

    function pin(mark, m, k) {
      BOT.setAttr(mark.node, "visibility", m ? null : "hidden");
      if (!m) return;
      const at = x(m.score).toFixed(1);
      const up = 12 + k * ROW;
      BOT.setAttr(mark.node, "class", m.chosen ? "is-chosen" : null);
      BOT.setAttr(mark.stem, "d", `M${at} ${foot}V${up}`);
      BOT.setAttr(mark.head, "d", m.chosen ? `M${at} ${up + 6}l-6 -10h12z` : `M${at - 4} ${up}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0`);
      const before = x(m.score) > width * 0.35; // where the name finds room
      BOT.setAttr(mark.name, "x", before ? at - 11 : Number(at) + 11);
      BOT.setAttr(mark.name, "y", up + 4);
      BOT.setAttr(mark.name, "text-anchor", before ? "end" : "start");
      BOT.setText(mark.name, m.text);
    }

    function draw() {
      if (!shown || !width) return;
      BOT.setAttr(bars, "d", [...shown.counts.keys()].map(box).join(""));
      const line = x(shown.half).toFixed(1);
      BOT.setAttr(half, "d", `M${line} ${foot}V${top - 6}`);
      marks.forEach((mark, k) => pin(mark, shown.marks[k], k));
      say();
    }

    function say() {
      const { counts, edges } = shown;
      BOT.setAttr(now, "d", at < 0 ? "" : box(at));
      const text = at < 0 ? "" : BOT.t("panel.lm_head.read_bin", { n: BOT.num(counts[at]), low: BOT.sig(edges[at], 3), high: BOT.sig(edges[at + 1], 3) });
      BOT.setText(readout, text);
      BOT.setAttr(picture, "aria-valuemax", counts.length - 1);
      BOT.setAttr(picture, "aria-valuenow", Math.max(0, at));
      BOT.setAttr(picture, "aria-valuetext", text);
    }

    function move(k) {
      at = Math.max(0, Math.min(shown.counts.length - 1, k));
      say();
    }

    function over(event) {
      if (!shown) return;
      const { edges } = shown;
      const score = scale.low + ((event.offsetX - LEFT) / (width - LEFT - RIGHT)) * (scale.high - scale.low);
      const k = Math.floor(((score - edges[0]) / (edges[edges.length - 1] - edges[0])) * shown.counts.length);
      if (k !== at && k >= 0 && k < shown.counts.length) move(k);
    }

    function keydown(event) {
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: Infinity }[event.key];
      if (to === undefined || !shown) return;
      event.preventDefault();
      move(to);
    }

    BOT.onWidth(node, (next) => {
      width = next;
      BOT.setAttr(picture, "width", width);
      frame();
      draw();
    });

    return {
      node,
      draw() {
        if (shown) draw();
      },
      axes(low, high, most) {
        scale = { low, high: high > low ? high : low + 1, powers: Math.max(1, Math.ceil(Math.log10(most))) };
        at = -1;
        if (width) frame();
      },
      /** -> {half}: the score that half of all tokens are below, read off the bins. */
      set(edges, counts, list) {
        shown = { edges, counts, marks: list };
        shown.half = middle(shown);
        draw();
        return shown;
      },
    };
  };
})();

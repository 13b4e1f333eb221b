/* One head as a map: every position that asks × every position that is read. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const WITHIN = 0.99; // this share of the weights lies within the scale: a row of one key is always 100 %
  const NAME = 14; // px that a name beside the map takes
  const tall = (rows) => (rows <= 32 ? 18 : rows <= 56 ? 13 : rows <= 84 ? 9 : rows <= 140 ? 6 : rows <= 260 ? 3 : 2);

  /** map(ctx) -> {node, draw(now), step(now)}; now: {data, found, at, position, aside}.
   *  draw: another head or scale; step: another row is marked. */
  BOT.attention.map = (ctx) => {
    let now = null;
    let framed = null; // the row of the position that asks
    let shown = [null, null]; // what is painted: the head's numbers and whether the first is left out
    const here = el("i", { class: "bot-att-here", "aria-hidden": "true" }, "▸");
    const box = el("div", { class: "bot-att-map" });
    const heatOf = BOT.attention.heats(box, (height) => BOT.heat({
      label: "panel.attention.map.label", tall: height, least: 2, gutter: 92, read, pick,
      legend: (most) => ["0%", `${most < 1 ? "≥ " : ""}${BOT.prob(most)}`],
      rowName: (r) => (cramped(r, height) ? "" : `${place(r)} ${BOT.attention.names(now.data)[place(r)]}`),
      colName: (k) => BOT.attention.names(now.data)[k],
    }));
    const hatched = el("span");
    const node = el("div", { class: "bot-att-block" },
      BOT.say(el("h4", { class: "bot-att-title" }), "panel.attention.map.title"),
      BOT.say(el("p", { class: "bot-att-axis" }), "panel.attention.map.axes"),
      el("div", { class: "bot-att-mapbox" }, here, box),
      el("p", { class: "bot-hint bot-att-key" }, el("i", { class: "bot-att-hatch", "aria-hidden": "true" }), hatched),
      BOT.say(el("p", { class: "bot-hint" }), "panel.attention.map.hint"));

    const place = (row) => now.found.rows.data[row];

    /** On low rows the map's edge would cut the first name, and the framed row's lie over its neighbours'. */
    const cramped = (row, height) => height < NAME && (row === 0 || (row !== framed && Math.abs(row - framed) * height < NAME));

    function read(row, k) {
      const { data, found } = now;
      const name = BOT.attention.names(data);
      const q = place(row);
      const score = found.scores.at(row, k);
      const fields = { q, asks: name[q], k, read: name[k], w: BOT.prob(found.weights.at(row, k)), score: BOT.sig(score, 4), window: BOT.num(found.window) };
      return BOT.t(`panel.attention.map.${score !== -Infinity ? "read" : k > q ? "later" : "beyond"}`, fields);
    }

    const pick = (row) => ctx.setFocus({ query: place(row) });

    /** The weight of the full shade, with or without the first token. */
    function full({ found, aside }) {
      const [rows, keys] = found.weights.shape;
      const [weights, scores] = [found.weights.data, found.scores.data];
      const visible = new Float32Array(weights.length);
      let n = 0;
      for (let r = 0; r < rows; r++) {
        for (let k = aside ? 1 : 0, at = r * keys + k; k < keys; k++, at++) if (scores[at] !== -Infinity) visible[n++] = weights[at];
      }
      return visible.subarray(0, n).sort()[Math.floor(WITHIN * (n - 1))] || 1;
    }

    function step(next) {
      now = next;
      const high = tall(now.found.rows.data.length);
      const heat = heatOf(high);
      const read = BOT.attention.reads(now.found, now.position);
      framed = read ? read.row : null;
      heat.mark({ row: framed });
      // What the reader looks at by keyboard stays where it is.
      if (document.activeElement !== heat.canvas) heat.cursor(read ? read.row : 0, read ? read.peak : 0);
      here.style.top = `${(BOT.attention.reads(now.found, now.at).row + 0.5) * high}px`;
    }

    return {
      node, step,
      draw(next) {
        now = next;
        const { found, aside } = now;
        if (shown[0] !== found || shown[1] !== aside) {
          shown = [found, aside];
          const [rows, keys] = found.weights.shape;
          const weights = found.weights.data;
          const scores = found.scores.data;
          heatOf(tall(rows)).set({ rows, cols: keys, most: full(now),
            value: (r, k) => (scores[r * keys + k] === -Infinity ? NaN : weights[r * keys + k]) });
        }
        step(next);
        BOT.setText(hatched, BOT.t(found.window ? "panel.attention.map.window" : "panel.attention.map.causal", { window: BOT.num(found.window) }));
      },
      /** Its names are written in another language or its sentences are. */
      redraw() {
        if (now) heatOf(tall(now.found.rows.data.length)).redraw();
      },
    };
  };
})();

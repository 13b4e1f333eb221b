/* The residual stream as a river through the layers: how long its vector is, what attention and FFN
 * pour into it, and how far each of these writes points to the token that was chosen.
 *
 * From left to right a column is a layer: its left edge is before, its middle between attention and
 * FFN, its right edge after. Lengths have one scale, by their root or true.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, svg, put } = BOT;

  const HIGH = 320; // px of the three lanes of lengths together
  const TURN = 104; // of the lane of cosines
  const TITLE = 22;
  const FOOT = 20;
  const LANES = ["attn", "stream", "ffn", "cosine"];
  const TITLES = { attn: "panel.residual.lane_attn", stream: "panel.residual.lane_stream", ffn: "panel.residual.lane_ffn", cosine: "panel.residual.lane_cosine" };

  /** residualRiver({pick(layer)}) -> {node, inside(data), step(i), mark(layer), lang()}. */
  BOT.residualRiver = ({ pick }) => {
    let data = null;
    let [i, p] = [0, 0];
    let most = {};
    let rooted = true;
    let lay = null; // {unit, base: {attn, stream, ffn, cosine}, turn}

    const frame = BOT.residualColumns({ label: "panel.residual.river_label", read, pick, place, paint });
    const { art } = frame;
    const river = svg("path", { class: "bot-river" });
    const inflow = svg("path", { class: "bot-river-inflow" });
    const lines = BOT.svgPool(art, "line", { class: "bot-cols-line" });
    art.append(inflow, river);
    const bars = Object.fromEntries(["attn", "ffn", "cosAttn", "cosFfn"].map((name) =>
      [name, BOT.svgPool(art, "rect", { class: `bot-write is-${name.endsWith("ttn") ? "attn" : "ffn"}` })]));
    const titles = Object.fromEntries(LANES.map((name) => [name, svg("text", { class: "bot-cols-title" })]));
    const ends = [svg("text", { class: "bot-cols-value" }), svg("text", { class: "bot-cols-value is-end" })];
    art.append(...Object.values(titles), ...ends);
    const marks = BOT.svgPool(art, "text", { class: "bot-cols-mark" });
    const feet = BOT.svgPool(art, "text", { class: "bot-cols-foot" });
    const axis = svg("text", { class: "bot-cols-mark" });
    art.append(axis);

    const switches = [["root", true], ["true", false]].map(([name, value]) => ({ value,
      node: el("button", { type: "button", class: "bot-btn", on: { click: () => scale(value) } }) }));
    const node = el("section", { class: "bot-res-part bot-res-river" },
      el("div", { class: "bot-res-head" },
        BOT.say(el("h4", { class: "bot-res-title" }), "panel.residual.river"),
        BOT.say(el("span", { class: "bot-label" }), "panel.residual.scale"),
        BOT.say(switches[0].node, "panel.residual.scale_root"), BOT.say(switches[1].node, "panel.residual.scale_true")),
      BOT.say(el("p", { class: "bot-hint" }), "panel.residual.river_hint"), frame.node);
    const absent = el("p", { class: "bot-note bot-note-info", hidden: true });
    const columns = ["layer", "before", "attn", "mid", "ffn", "after", "attn_cosine", "ffn_cosine"];
    const table = BOT.fold({
      label: "panel.residual.river_table",
      columns: [{ key: "panel.residual.col.layer", class: "bot-n" }, { key: "panel.residual.col.before", class: "bot-n" },
        { key: "panel.residual.col.attn", class: "bot-n" }, { key: "panel.residual.col.mid", class: "bot-n" },
        { key: "panel.residual.col.ffn", class: "bot-n" }, { key: "panel.residual.col.after", class: "bot-n" },
        { key: "panel.residual.col.attn_cosine", class: "bot-n" }, { key: "panel.residual.col.ffn_cosine", class: "bot-n" }],
      rows: () => (data && i >= 0 ? Array.from({ length: data.model.n_layers }, (_, l) => {
        const at = numbers(l);
        return columns.map((name) => (name === "layer" ? String(l) : at[name] === null ? "–"
          : { text: BOT.sig(at[name], 4), title: BOT.exact(at[name], true) }));
      }) : []),
    });
    node.append(absent, table.node);

    const f = (x) => (rooted ? Math.sqrt(x) : x);
    const length = (x) => f(Math.max(0, x)) * lay.unit || 0;

    /** Everything said of a layer at this position, null for what can not be seen. */
    function numbers(l) {
      const { stream: s } = data;
      return {
        before: s.norms.at(l, p), after: s.norms.at(l + 1, p), mid: s.mid_norms && s.mid_norms.at(l, p),
        attn: s.attn_norms && s.attn_norms.at(l, p), ffn: s.ffn_norms && s.ffn_norms.at(l, p),
        attn_cosine: s.attn_cosine && s.attn_cosine.at(l, i), ffn_cosine: s.ffn_cosine && s.ffn_cosine.at(l, i),
      };
    }

    function read(l) {
      if (i < 0) return "";
      const at = numbers(l);
      const shown = Object.fromEntries(Object.entries(at).map(([name, x]) => [name, name.endsWith("cosine") && x !== null ? BOT.signed(x) : BOT.sig(x)]));
      const key = at.attn === null ? "panel.residual.read_stream" : at.mid === null ? "panel.residual.read_parallel" : "panel.residual.read_layer";
      return BOT.t(key, { l, ...shown });
    }

    /** Lanes, axes and names: {attention} over {stream} over {FFN}, then {cosines}. */
    function place(space) {
      const seen = !!data.stream.attn_norms;
      const all = (seen ? f(most.attn) + f(most.ffn) : 0) + f(most.stream);
      lay = { unit: HIGH / all, base: {} };
      const high = (name) => f(most[name]) * lay.unit;
      const { base } = lay;
      let y = TITLE;
      if (seen) {
        y += high("attn");
        base.attn = y;
        y += 6;
      }
      y += high("stream") / 2;
      base.stream = y;
      y += high("stream") / 2 + 6;
      base.ffn = y;
      if (seen) y += high("ffn");
      y += FOOT;
      const first = y;
      if (seen) {
        y += TITLE + 8 + TURN / 2;
        base.cosine = y;
        y += TURN / 2 + FOOT;
      }
      put(titles.attn, { x: space.left + 4, y: 14 });
      put(titles.stream, { x: space.left + 4, y: base.stream - Math.max(14, high("stream") / 4) });
      put(titles.ffn, { x: space.left + 4, y: first - FOOT - 4 });
      put(titles.cosine, { x: space.left + 4, y: seen ? base.cosine - TURN / 2 - 6 : 0 });
      for (const name of LANES) BOT.setAttr(titles[name], "hidden", seen || name === "stream" ? null : "");
      const ground = seen ? [base.attn, base.ffn, base.cosine] : [];
      lines(ground.length).forEach((line, k) => put(line, { x1: space.left, x2: space.right, y1: ground[k], y2: ground[k] }));
      ticks(space, seen);
      const at = BOT.everyColumn(space.n, space.w);
      const rows = seen ? [first - 4, y - 4] : [first - 4];
      feet(at.length * rows.length).forEach((text, k) => {
        const l = at[k % at.length];
        put(text, { x: space.x(l) + space.w / 2, y: rows[Math.floor(k / at.length)] });
        BOT.setText(text, String(l));
      });
      put(axis, { x: space.left - 6, y: first - 4 });
      BOT.setText(axis, BOT.t("panel.residual.layer"));
      return y;
    }

    function ticks(space, seen) {
      const scale = (x) => f(x) * lay.unit;
      const at = !seen ? [] : [
        ...BOT.marksUpTo(most.attn, scale).map((x) => [BOT.sig(x, 1), lay.base.attn - scale(x)]),
        ...BOT.marksUpTo(most.ffn, scale).map((x) => [BOT.sig(x, 1), lay.base.ffn + scale(x)]),
        [`+${BOT.sig(most.cosine, 2)}`, lay.base.cosine - TURN / 2 + 4], ["0", lay.base.cosine], [`−${BOT.sig(most.cosine, 2)}`, lay.base.cosine + TURN / 2 - 4],
      ];
      marks(at.length).forEach((text, k) => {
        put(text, { x: space.left - 6, y: at[k][1] + 4 });
        BOT.setText(text, at[k][0]);
      });
    }

    function paint(space) {
      const { stream: s, model: { n_layers: L } } = data;
      const here = i >= 0;
      const half = (norm) => length(norm) / 2;
      const points = []; // x, half a width
      for (let l = 0; here && l < L; l++) {
        points.push([space.x(l), half(s.norms.at(l, p))]);
        if (s.mid_norms) points.push([space.x(l) + space.w / 2, half(s.mid_norms.at(l, p))]);
      }
      if (here) points.push([space.x(L), half(s.norms.at(L, p))]);
      river.setAttribute("d", bank(points, -1) + bank(points.reverse(), 1, "L") + (here ? "Z" : ""));
      ends.forEach((text, k) => {
        BOT.setText(text, here ? BOT.sig(s.norms.at(k * L, p)) : "");
        put(text, { x: k ? space.right - 4 : space.left + 4, y: lay.base.stream + (k ? 5 : 22) });
      });
      const seen = s.attn_norms && here;
      const wide = Math.min(22, space.w * 0.36);
      let flow = "";
      for (const [name, values, part] of [["attn", s.attn_norms, 0.28], ["ffn", s.ffn_norms, 0.72]]) {
        bars[name](seen ? L : 0).forEach((bar, l) => {
          const x = space.x(l) + space.w * part;
          const high = length(values.at(l, p));
          put(bar, { x: x - wide / 2, width: wide, height: Math.max(0.5, high), y: name === "attn" ? lay.base.attn - high : lay.base.ffn });
          const edge = half(s.norms.at(l, p)) * (name === "attn" ? -1 : 1);
          flow += `M${x.toFixed(1)} ${lay.base[name]}V${(lay.base.stream + edge).toFixed(1)}`;
        });
      }
      inflow.setAttribute("d", flow);
      for (const [name, values, part] of [["cosAttn", s.attn_cosine, 0.28], ["cosFfn", s.ffn_cosine, 0.72]]) {
        bars[name](seen ? L : 0).forEach((bar, l) => {
          const high = (values.at(l, i) / most.cosine) * (TURN / 2);
          put(bar, { x: space.x(l) + space.w * part - wide / 2, width: wide, height: Math.max(0.5, Math.abs(high)), y: lay.base.cosine - Math.max(0, high) });
        });
      }
    }

    /** One bank of the river, through every point; side −1 is above. */
    function bank(points, side, begin = "M") {
      let d = "";
      points.forEach(([x, half], k) => {
        const y = (lay.base.stream + side * half).toFixed(2);
        if (!k) d += `${begin}${x.toFixed(2)} ${y}`;
        else {
          const middle = ((points[k - 1][0] + x) / 2).toFixed(2);
          const before = (lay.base.stream + side * points[k - 1][1]).toFixed(2);
          d += `C${middle} ${before} ${middle} ${y} ${x.toFixed(2)} ${y}`;
        }
      });
      return d;
    }

    function scale(value) {
      rooted = value;
      for (const each of switches) BOT.setAttr(each.node, "aria-pressed", each.value === rooted);
      frame.redraw();
    }

    function lang() {
      for (const name of ["attn", "stream", "ffn"]) BOT.setText(titles[name], BOT.t(TITLES[name]));
      token();
      const why = data.stream.attn_norms ? (data.stream.mid_norms ? null : BOT.inside.missing(data, "mid_norms")) : BOT.inside.missing(data, "writes");
      absent.hidden = !why;
      BOT.setText(absent, why || "");
      frame.redraw();
      table.draw();
    }

    /** The cosines' title names the token of the step. */
    function token() {
      BOT.setText(titles.cosine, BOT.t(TITLES.cosine, { token: i < 0 ? "–" : BOT.shortToken(BOT.inside.token(data, p + 1).hex) }));
    }

    return {
      node,
      inside(next) {
        data = next;
        const { stream: s, n_prompt: n, model: { n_layers: L } } = data;
        const answers = (array) => (array ? BOT.largest(Array.from({ length: array.shape[0] }, (_, l) => BOT.largest(array.row(l).subarray(n - 1)))) : 0);
        most = { stream: answers(s.norms), attn: answers(s.attn_norms), ffn: answers(s.ffn_norms),
          cosine: s.attn_cosine ? BOT.largest([BOT.largest(s.attn_cosine.data), BOT.largest(s.ffn_cosine.data)]) : 1 };
        if (s.mid_norms) most.stream = Math.max(most.stream, answers(s.mid_norms));
        [i, p] = [-1, n - 1];
        frame.set(L);
        lang();
        scale(rooted);
      },
      step(next) {
        i = next;
        p = data.n_prompt - 1 + i;
        token();
        frame.paint();
        table.draw();
      },
      mark: (layer) => frame.mark(layer),
      lang,
    };
  };
})();

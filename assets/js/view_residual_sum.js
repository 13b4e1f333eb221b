/* The chosen token's logit as a sum, part after part: embedding, then what every layer's attention
 * and FFN added along the token's row of the head.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, svg, put } = BOT;

  const HIGH = 260;
  const TOP = 14;
  const FOOT = 42;

  /** The parts of a step's sum in their order: [{kind, layer, at(i)}]. Biases that are zero at every
   *  step are left out. kind: embedding, position, attn, ffn, norm_bias or head_bias. */
  BOT.partsOf = (data) => {
    const a = data.attribution;
    const some = (array) => array && array.data.some((x) => x !== 0);
    const one = (kind) => ({ kind, layer: null, at: (i) => a[kind].at(i) });
    return [
      one("embedding"), ...(a.position ? [one("position")] : []),
      ...Array.from({ length: data.model.n_layers }, (_, layer) => ["attn", "ffn"].map((kind) => ({ kind, layer, at: (i) => a[kind].at(layer, i) }))).flat(),
      ...["norm_bias", "head_bias"].filter((kind) => some(a[kind])).map(one),
    ];
  };

  const NAMES = { embedding: "panel.residual.part.embedding", position: "panel.residual.part.position", attn: "panel.residual.part.attn",
    ffn: "panel.residual.part.ffn", norm_bias: "panel.residual.part.norm_bias", head_bias: "panel.residual.part.head_bias" };
  BOT.partName = (part) => BOT.t(NAMES[part.kind], { l: part.layer });

  /** A token short enough for a line in a drawing. */
  BOT.shortToken = (hex) => {
    const text = [...BOT.tokenText(hex)];
    return text.length > 24 ? `${text.slice(0, 23).join("")}…` : text.join("");
  };

  /** residualSum({pick(layer)}) -> {node, inside(data), step(i), lang()}. */
  BOT.residualSum = ({ pick }) => {
    let data = null;
    let parts = [];
    let i = -1;
    let range = { low: 0, high: 1 };
    let sums = new Float64Array(0); // before the first part, after each

    const frame = BOT.residualColumns({ label: "panel.residual.sum_label", read, place, paint,
      pick: (k) => { if (k < parts.length && parts[k].layer !== null) pick(parts[k].layer); } });
    const { art } = frame;
    const grid = BOT.svgPool(art, "line", { class: "bot-cols-line is-soft" });
    const ground = svg("line", { class: "bot-cols-line" });
    const steps = svg("path", { class: "bot-sum-steps" });
    const goal = svg("line", { class: "bot-sum-goal" });
    art.append(ground, steps);
    const bars = BOT.svgPool(art, "rect", {});
    const goalName = svg("text", { class: "bot-cols-value" });
    art.append(goal, goalName);
    const marks = BOT.svgPool(art, "text", { class: "bot-cols-mark" });
    const feet = BOT.svgPool(art, "text", { class: "bot-cols-foot" });
    const edges = ["start", "layer", "end"].map((where) => svg("text", { class: `bot-cols-foot is-${where}` }));
    art.append(...edges);

    const says = el("p", { class: "bot-sum-says" });
    const cap = el("p", { class: "bot-hint" });
    const table = BOT.fold({
      label: "panel.residual.sum_table",
      columns: [{ key: "panel.residual.col.part" }, { key: "panel.residual.col.adds", class: "bot-n" }, { key: "panel.residual.col.sum", class: "bot-n" }],
      rows: () => (i < 0 ? [] : parts.map((part, k) => [BOT.partName(part),
        { text: BOT.signed(part.at(i), 4), title: BOT.exact(part.at(i), true) }, { text: BOT.sig(sums[k + 1], 5), title: BOT.exact(sums[k + 1]) }])),
    });
    const node = el("section", { class: "bot-res-part" },
      BOT.say(el("h4", { class: "bot-res-title" }), "panel.residual.sum"), BOT.say(el("p", { class: "bot-hint" }), "panel.residual.sum_hint"),
      frame.node, says, cap, BOT.say(el("p", { class: "bot-hint" }), "panel.residual.differences"), table.node);

    /** Running sums of step `at` into `into`. */
    function run(at, into) {
      into[0] = 0;
      parts.forEach((part, k) => { into[k + 1] = into[k] + part.at(at); });
      return into;
    }

    const y = (x) => TOP + ((range.high - x) / (range.high - range.low)) * HIGH;

    function read(k) {
      if (i < 0) return "";
      const a = data.attribution;
      if (k >= parts.length) return BOT.t("panel.residual.read_total", { total: BOT.sig(a.total.at(i), 6) });
      return BOT.t("panel.residual.read_part", { part: BOT.partName(parts[k]), value: BOT.signed(parts[k].at(i)), sum: BOT.sig(sums[k + 1], 4) });
    }

    function place(space) {
      const { low, high } = range;
      const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((s) => (s / (high - low)) * HIGH >= 36) || (high - low) / 4;
      const values = [];
      for (let v = Math.ceil(low / step) * step; v <= high; v += step) values.push(v);
      grid(values.length).forEach((line, k) => put(line, { x1: space.left, x2: space.right, y1: y(values[k]), y2: y(values[k]) }));
      marks(values.length).forEach((text, k) => {
        put(text, { x: space.left - 6, y: y(values[k]) + 4 });
        BOT.setText(text, BOT.sig(values[k], 3));
      });
      put(ground, { x1: space.left, x2: space.right, y1: y(0), y2: y(0) });
      const first = parts.findIndex((part) => part.layer !== null);
      const at = BOT.everyColumn(data.model.n_layers, 2 * space.w);
      feet(at.length).forEach((text, k) => {
        put(text, { x: space.x(first + 2 * at[k] + 1), y: TOP + HIGH + 16 });
        BOT.setText(text, String(at[k]));
      });
      const below = TOP + HIGH + 34;
      put(edges[0], { x: space.left, y: below });
      put(edges[1], { x: (space.left + space.right) / 2, y: below });
      put(edges[2], { x: space.right, y: below });
      const short = (kind) => BOT.t(NAMES[kind]);
      BOT.setText(edges[0], `↑ ${parts.slice(0, first).map((part) => short(part.kind)).join(" · ")}`);
      BOT.setText(edges[1], BOT.t("panel.residual.layer"));
      BOT.setText(edges[2], `${[...parts.slice(first + 2 * data.model.n_layers).map((part) => short(part.kind)), BOT.t("panel.residual.total")].join(" · ")} ↑`);
      return TOP + HIGH + FOOT;
    }

    function paint(space) {
      const here = i >= 0;
      let path = "";
      const wide = Math.max(2, space.w - Math.min(4, space.w * 0.25));
      bars(here ? parts.length + 1 : 0).forEach((bar, k) => {
        const total = k === parts.length;
        const [from, to] = total ? [0, data.attribution.total.at(i)] : [sums[k], sums[k + 1]];
        put(bar, { x: space.x(k) + (space.w - wide) / 2, width: wide, y: y(Math.max(from, to)), height: Math.max(1, Math.abs(y(to) - y(from))) });
        const kind = total ? "total" : parts[k].kind === "attn" || parts[k].kind === "ffn" ? parts[k].kind : "other";
        BOT.setAttr(bar, "class", `bot-sum-bar is-${kind} ${to < from ? "is-down" : "is-up"}`);
        if (!total) path += `M${space.x(k).toFixed(1)} ${y(to).toFixed(1)}H${space.x(k + 2).toFixed(1)}`;
      });
      steps.setAttribute("d", path);
      const logit = here ? data.attribution.logit.at(i) : 0;
      for (const each of [goal, goalName]) BOT.setAttr(each, "hidden", here ? null : "");
      put(goal, { x1: space.left, x2: space.right, y1: y(logit), y2: y(logit) });
      put(goalName, { x: space.left + 4, y: y(logit) < TOP + 20 ? y(logit) + 16 : y(logit) - 6 });
      if (here) BOT.setText(goalName, BOT.t("panel.residual.goal", { token: BOT.shortToken(BOT.inside.token(data, data.n_prompt + i).hex), value: BOT.sig(logit, 4) }));
    }

    function say() {
      const a = data.attribution;
      says.hidden = cap.hidden = i < 0;
      if (i < 0) return;
      const [total, logit] = [a.total.at(i), a.logit.at(i)];
      let [plus, minus] = [0, 0];
      for (const part of parts) {
        const x = part.at(i);
        if (x > 0) plus += x;
        else minus += x;
      }
      BOT.setText(says, BOT.t("panel.residual.balance", { plus: BOT.signed(plus, 4), minus: BOT.sig(minus, 4), total: BOT.sig(total, 8),
        logit: BOT.exact(logit, true), gap: BOT.sig(Math.abs(total - logit), 2) }));
      BOT.setAttr(says, "title", `${BOT.exact(total)} − ${BOT.exact(logit, true)} = ${BOT.exact(total - logit)}`);
      cap.hidden = a.cap === null;
      if (a.cap !== null) BOT.setText(cap, BOT.t("panel.residual.cap", { cap: BOT.exact(a.cap), logit: BOT.sig(logit, 5), capped: BOT.sig(a.capped.at(i), 5) }));
    }

    return {
      node,
      inside(next) {
        data = next;
        parts = BOT.partsOf(data);
        i = -1;
        sums = new Float64Array(parts.length + 1);
        let [low, high] = [0, 0];
        for (let k = 0; k < data.attribution.total.shape[0]; k++) {
          for (const x of run(k, sums)) {
            if (x < low) low = x;
            if (x > high) high = x;
          }
        }
        const air = (high - low || 1) * 0.04;
        range = { low: low < 0 ? low - air : 0, high: high + air };
        frame.set(parts.length + 1);
        say();
      },
      step(next) {
        i = next;
        if (i >= 0) run(i, sums);
        frame.paint();
        say();
        table.draw();
      },
      lang() {
        frame.redraw();
        say();
        table.draw();
      },
    };
  };
})();

/* The feed-forward network of one layer to scale: as wide as it has numbers, in, between and out.
 *
 * A neuron has one place from left to right, so its gate, its up and its activation stand above each
 * other. A step moves bars; nodes are made only for more neurons than before.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, svg, put } = BOT;

  const THIN = 20; // px: a strip that only shows a width
  const SMALL = 64; // of gate and of up
  const TALL = 148; // of the activation
  const SLOPE = 52;
  const BAR = 6;
  const LABEL = 13;
  const NEAR = 30; // px from a bar that still mean it

  /** ffnPicture({pick(k)}) -> {node, shape({d_model, d_ffn, gated}), set(found), lang()}.
   *
   *  found: {ids, gate, up, activation: of the listed neurons, gate null without one; most: {gate,
   *  up, activation}, full heights; chosen: id or null; norm: of what is written; null: nothing}. */
  BOT.ffnPicture = ({ pick }) => {
    const still = svg("g");
    const lines = svg("g", { class: "bot-ffn-guides" });
    const bars = svg("g");
    const names = svg("g", { class: "bot-ffn-names" });
    const written = svg("g"); // over the bars
    const node = svg("svg", { class: "bot-ffn-picture", role: "img", on: { click } }, still, lines, bars, written, names);
    const frame = el("div", { class: "bot-ffn-frame" }, node);
    const words = {};
    for (const name of ["in", "expand", "gate", "up", "mix", "activation", "compress", "out", "first", "last"]) {
      words[name] = svg("text", { class: `bot-ffn-word is-${name}` });
    }
    const scales = { gate: svg("text"), up: svg("text"), activation: svg("text") };
    const shapes = { in: svg("rect"), out: svg("rect"), gate: svg("rect"), up: svg("rect"), activation: svg("rect") };
    const zero = { gate: svg("line"), up: svg("line"), activation: svg("line") };
    const slopes = { expand: svg("path", { class: "bot-ffn-slope" }), compress: svg("path", { class: "bot-ffn-slope" }) };
    still.append(...Object.values(slopes), ...Object.values(shapes), ...Object.values(zero));
    written.append(...Object.values(words), ...Object.values(scales));
    for (const rect of Object.values(shapes)) rect.setAttribute("class", "bot-ffn-strip");
    for (const text of Object.values(scales)) text.setAttribute("class", "bot-ffn-word is-scale");
    for (const line of Object.values(zero)) line.setAttribute("class", "bot-ffn-zero");

    const pools = { line: BOT.svgPool(lines, "line"), name: BOT.svgPool(names, "text") };
    for (const part of ["gate", "up", "activation"]) pools[part] = BOT.svgPool(bars, "rect", { "data-part": part });

    let model = null;
    let found = null;
    let width = 0;
    let strips = {}; // part -> {y, h}

    const x = (id) => ((id + 0.5) / model.d_ffn) * wide(model.d_ffn) + (width - wide(model.d_ffn)) / 2;
    const wide = (n) => (n / Math.max(model.d_ffn, model.d_model)) * (width - 2);

    const box = (name, y, h, n) => {
      strips[name] = { y, h, middle: y + h / 2 };
      put(shapes[name], { x: (width - wide(n)) / 2, y, width: wide(n), height: h });
    };
    const slope = (name, y, from, to) => {
      const [a, b] = [wide(from) / 2, wide(to) / 2];
      const c = width / 2;
      slopes[name].setAttribute("d", `M${c - a} ${y}H${c + a}L${c + b} ${y + SLOPE}H${c - b}Z`);
    };
    const word = (name, left, y) => put(words[name], { x: left, y });

    /** Where everything stands that does not move with a step. */
    function place() {
      if (!model || !width) return;
      const { d_model: d, d_ffn: f, gated } = model;
      const c = width / 2;
      let y = LABEL + 6;
      word("in", c, LABEL);
      box("in", y, THIN, d);
      y += THIN;
      slope("expand", y, d, f);
      word("expand", c, y + SLOPE / 2 + 5);
      y += SLOPE;
      for (const name of gated ? ["gate", "up"] : ["up"]) {
        box(name, y, SMALL, f);
        y += SMALL + 6;
      }
      word("mix", c, y + LABEL);
      y += LABEL + 10;
      box("activation", y, TALL, f);
      y += TALL;
      const edge = (width - wide(f)) / 2;
      word("first", edge + 2, y - 4);
      word("last", width - edge - 2, y - 4);
      slope("compress", y, f, d);
      word("compress", c, y + SLOPE / 2 + 2);
      y += SLOPE;
      box("out", y, THIN, d);
      word("out", c, y + THIN + LABEL + 3);
      y += THIN + LABEL + 8;
      for (const part of ["gate", "up", "activation"]) {
        const here = part !== "gate" || gated;
        for (const each of [shapes[part], zero[part], words[part], scales[part]]) BOT.setAttr(each, "hidden", here ? null : "");
        if (!here) continue;
        const { y: top, middle } = strips[part];
        put(zero[part], { x1: edge, x2: width - edge, y1: middle, y2: middle });
        word(part, edge + 6, top + LABEL + 1);
        put(scales[part], { x: width - edge - 6, y: top + LABEL + 1 });
      }
      put(node, { width, height: y, viewBox: `0 0 ${width} ${y}` });
      lang();
    }

    function draw() {
      if (!model || !width) return;
      const n = found ? found.ids.length : 0;
      const guides = pools.line(n);
      const parts = model.gated ? ["gate", "up", "activation"] : ["up", "activation"];
      if (!model.gated) pools.gate(0);
      const top = strips[parts[0]].y;
      const bottom = strips.activation.y + strips.activation.h;
      for (const part of parts) {
        const { h, middle } = strips[part];
        pools[part](n).forEach((bar, k) => {
          const value = found[part][k];
          const high = Math.min(1, Math.abs(value) / found.most[part]) * (h / 2 - 2) || 0;
          put(bar, { x: x(found.ids[k]) - BAR / 2, width: BAR, y: value > 0 ? middle - high : middle, height: Math.max(0.5, high) });
          BOT.setAttr(bar, "class", `bot-ffn-bar ${value < 0 ? "is-down" : "is-up"}${found.ids[k] === found.chosen ? " is-chosen" : ""}`);
        });
      }
      guides.forEach((line, k) => {
        const at = x(found.ids[k]);
        put(line, { x1: at, x2: at, y1: top, y2: bottom });
        BOT.setAttr(line, "class", found.ids[k] === found.chosen ? "is-chosen" : null);
      });
      label(n);
      numbers();
    }

    /** The neurons' numbers at their bars, the strongest first, as far as there is room. */
    function label(n) {
      const { middle, h } = strips.activation;
      const taken = [];
      const order = Array.from({ length: n }, (_, k) => k).sort((a, b) => (found.ids[b] === found.chosen) - (found.ids[a] === found.chosen));
      const texts = pools.name(n);
      for (const k of order) {
        const name = String(found.ids[k]);
        const half = name.length * 3.9 + 2;
        const at = Math.max(half, Math.min(width - half, x(found.ids[k])));
        const up = found.activation[k] >= 0;
        const high = Math.min(1, Math.abs(found.activation[k]) / found.most.activation) * (h / 2 - 2) || 0;
        const y = up ? Math.max(middle - high - 4, strips.activation.y + 28) : Math.min(middle + high + 12, strips.activation.y + h - 18);
        const free = taken.every((t) => Math.abs(t.at - at) > t.half + half || Math.abs(t.y - y) > 12);
        BOT.setAttr(texts[k], "hidden", free ? null : "");
        if (!free) continue;
        taken.push({ at, half, y });
        put(texts[k], { x: at, y });
        BOT.setText(texts[k], name);
        BOT.setAttr(texts[k], "class", found.ids[k] === found.chosen ? "is-chosen" : null);
      }
    }

    function numbers() {
      const norm = found ? BOT.sig(found.norm) : "–";
      BOT.setText(words.out, BOT.t("panel.ffn.pic.out", { d: BOT.num(model.d_model), norm }));
      for (const part of Object.keys(scales)) {
        BOT.setText(scales[part], found && found.most[part] ? `±${BOT.sig(found.most[part], 2)}` : "");
      }
    }

    function lang() {
      if (!model) return;
      const kind = model.gated ? "gated" : "plain";
      const values = { d: BOT.num(model.d_model), f: BOT.num(model.d_ffn), n: BOT.num(model.d_model * model.d_ffn), both: BOT.num(2 * model.d_model * model.d_ffn) };
      for (const [name, key] of Object.entries({
        in: "panel.ffn.pic.in", compress: "panel.ffn.pic.compress",
        expand: kind === "gated" ? "panel.ffn.pic.expand_gated" : "panel.ffn.pic.expand_plain",
        mix: kind === "gated" ? "panel.ffn.pic.mix_gated" : "panel.ffn.pic.mix_plain",
        gate: "panel.ffn.gate", up: "panel.ffn.up", activation: "panel.ffn.activation",
      })) BOT.setText(words[name], BOT.t(key, values));
      BOT.setText(words.first, "0");
      BOT.setText(words.last, BOT.num(model.d_ffn - 1));
      BOT.setAttr(node, "aria-label", BOT.t("panel.ffn.pic.label", values));
      numbers();
    }

    function click(event) {
      if (!found || !found.ids.length) return;
      const at = event.clientX - node.getBoundingClientRect().left;
      const far = Array.from(found.ids, (id) => Math.abs(x(id) - at));
      const k = far.indexOf(Math.min(...far));
      if (far[k] <= NEAR) pick(k);
    }

    BOT.onWidth(frame, (next) => {
      width = next;
      place();
      draw();
    });

    return {
      node: frame, lang,
      shape(next) {
        model = next;
        place();
      },
      set(next) {
        found = next;
        draw();
      },
    };
  };
})();

/* What a larger vocabulary costs and saves: three curves over its size, one point on each. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, svg } = BOT;
  const TALL = 150;
  const LEFT = 8;
  const RIGHT = 8;
  const TOP = 12;
  const FOOT = 22;

  /** One curve: {node, set({values, format, first, at})}. values[k] >= 0; pick(k). */
  function curve(key, pick) {
    const title = BOT.say(el("h4", { class: "bot-train-curve-title" }), `panel.training.curve.${key}`);
    const number = el("b", { class: "bot-train-number" });
    const change = el("span", { class: "bot-muted" });
    const area = svg("path", { class: "bot-train-area" });
    const line = svg("path", { class: "bot-train-line" });
    const rule = svg("line", { class: "bot-train-rule" });
    const dot = svg("circle", { class: "bot-train-dot", r: 6 });
    const ends = [svg("text", { class: "bot-train-tick" }), svg("text", { class: "bot-train-tick", "text-anchor": "end" })];
    const base = svg("line", { class: "bot-train-base" });
    const picture = svg("svg", { class: "bot-train-svg", role: "img", on: { pointerdown: over, pointermove: (e) => e.buttons && over(e) } }, area, base, line, rule, dot, ends);
    const node = el("section", { class: `bot-train-curve is-${key}` }, title, el("p", { class: "bot-train-value" }, number, " ", change), picture);
    let map = { values: [0], format: String, first: 0, at: 0 };
    let width = 0;

    const x = (k) => LEFT + (map.values.length > 1 ? k / (map.values.length - 1) : 0) * (width - LEFT - RIGHT);
    const y = (v) => TALL - FOOT - (v / (Math.max(...map.values) || 1)) * (TALL - FOOT - TOP);

    function over(event) {
      const box = picture.getBoundingClientRect();
      const share = (((event.clientX - box.left) / box.width) * width - LEFT) / (width - LEFT - RIGHT);
      pick(Math.round(Math.max(0, Math.min(1, share)) * (map.values.length - 1)));
    }

    function draw() {
      if (!width) return;
      picture.setAttribute("viewBox", `0 0 ${width} ${TALL}`);
      const most = Math.max(...map.values) || 1;
      const up = (v) => TALL - FOOT - (v / most) * (TALL - FOOT - TOP);
      const path = map.values.map((v, k) => `${k ? "L" : "M"}${x(k).toFixed(1)} ${up(v).toFixed(1)}`).join("");
      line.setAttribute("d", path);
      area.setAttribute("d", `${path}L${x(map.values.length - 1).toFixed(1)} ${TALL - FOOT}L${LEFT} ${TALL - FOOT}Z`);
      for (const [name, value] of Object.entries({ x1: LEFT, x2: width - RIGHT, y1: TALL - FOOT, y2: TALL - FOOT })) base.setAttribute(name, value);
      ends[0].setAttribute("x", LEFT);
      ends[1].setAttribute("x", width - RIGHT);
      ends.forEach((t) => t.setAttribute("y", TALL - 5));
      BOT.setText(ends[0], BOT.t("panel.training.curve.from", { n: BOT.num(map.first) }));
      BOT.setText(ends[1], BOT.num(map.first + map.values.length - 1));
      point();
    }

    function point() {
      const value = map.values[map.at];
      const text = map.format(value);
      BOT.setText(number, text);
      BOT.setAttr(number, "title", BOT.num(value));
      const share = map.values[0] ? value / map.values[0] : 1;
      BOT.setText(change, map.at === 0 ? "" : BOT.t("panel.training.curve.change", { x: BOT.sig(share, 3) }));
      BOT.setAttr(picture, "aria-label", BOT.t("panel.training.curve.label", { what: title.textContent, value: text, n: BOT.num(map.first + map.at) }));
      if (!width) return;
      dot.setAttribute("cx", x(map.at));
      dot.setAttribute("cy", y(value));
      for (const [name, v] of Object.entries({ x1: x(map.at), x2: x(map.at), y1: y(value), y2: TALL - FOOT })) rule.setAttribute(name, v);
    }

    BOT.onWidth(node, (next) => {
      if (next < 80) return; // not laid out yet
      width = next;
      draw();
    });

    return {
      node,
      set(next) {
        map = { ...map, ...next };
        draw();
      },
      at(k) {
        map.at = k;
        point();
      },
    };
  }

  /** trainingCosts(pick) -> {node, set({first, tokens}), at(k), draw()}: tokens[k] of the corpus after k
   *  merges, with a vocabulary of first + k. */
  BOT.trainingCosts = (pick) => {
    const WIDTHS = [[576, "SmolLM2-135M"], [1024, "Qwen3-0.6B"], [2048, "1–2 B"], [4096, "7–8 B"]];
    const BYTES = [4, 2, 1];
    const width = el("input", { class: "bot-train-field", type: "number", id: "bot-train-width", min: 1, max: 65536, step: 1, value: 576, list: "bot-train-widths", on: { input: draw } });
    const chips = WIDTHS.map(([n, name]) => el("button", { class: "bot-chip", type: "button", title: name, on: { click: () => { width.value = n; draw(); } } }, `${BOT.num(n)} · ${name}`));
    const bytes = el("select", { class: "bot-lab-list", id: "bot-train-bytes", on: { change: draw } }, BYTES.map((n) => el("option", { value: n })));
    const curves = { tokens: curve("tokens", pick), pairs: curve("pairs", pick), table: curve("table", pick) };
    const says = el("p", { class: "bot-hint" });
    const node = el("div", { class: "bot-train-costs" },
      el("div", { class: "bot-train-settings" },
        BOT.say(el("label", { class: "bot-label", for: width.id }), "panel.training.width"), width, chips,
        BOT.say(el("label", { class: "bot-label", for: bytes.id }), "panel.training.bytes"), bytes),
      el("div", { class: "bot-train-curves" }, Object.values(curves).map((c) => c.node)), says);
    let map = { first: 256, tokens: [0] };
    let k = 0;

    const wide = () => Math.max(1, Math.min(65536, Math.round(Number(width.value)) || 1));
    const pairs = (t) => (t * (t + 1)) / 2;
    const table = (at) => (map.first + at) * wide() * Number(bytes.value);

    function draw() {
      BYTES.forEach((n, i) => BOT.setText(bytes.options[i], BOT.t(`panel.training.bytes.${n}`)));
      WIDTHS.forEach(([n], i) => BOT.setAttr(chips[i], "aria-pressed", n === wide()));
      const { first, tokens } = map;
      curves.tokens.set({ first, at: k, values: tokens, format: (n) => BOT.t("panel.training.tokens", { n: BOT.num(n) }) });
      curves.pairs.set({ first, at: k, values: tokens.map(pairs), format: BOT.num });
      curves.table.set({ first, at: k, values: tokens.map((_, at) => table(at)), format: BOT.bytes });
      words();
    }
    function words() {
      BOT.setText(says, BOT.t("panel.training.weights", { rows: BOT.num(map.first + k), width: BOT.num(wide()), weights: BOT.num((map.first + k) * wide()), size: BOT.bytes(table(k)) }));
    }

    return {
      node, draw,
      /** Of the state after `at` merges: {pairs, weights, bytes}. */
      of: (at) => ({ pairs: pairs(map.tokens[at]), weights: (map.first + at) * wide(), bytes: table(at) }),
      set(next) {
        map = next;
        k = Math.min(k, next.tokens.length - 1);
        draw();
      },
      at(next) {
        k = next;
        Object.values(curves).forEach((c) => c.at(k));
        words();
      },
    };
  };
})();

/* Bytes of the cache: the formula with its numbers, and how they grow from run to run. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, svg } = BOT;

  /** The formula as boxes with signs between: {node, draw(found, model, i)}. */
  BOT.cacheFormula = () => {
    const box = (key) => {
      const value = el("span", { class: "bot-factor-value" });
      const node = el("div", { class: "bot-factor" }, value, BOT.say(el("span", { class: "bot-factor-name" }), key));
      return { value, node };
    };
    const sign = (text) => el("span", { class: "bot-factor-sign", "aria-hidden": "true" }, text);
    const boxes = Object.fromEntries([["kv", "panel.kv_cache.factor.kv"], ["layers", "panel.kv_cache.factor.layers"], ["heads", "panel.kv_cache.factor.heads"],
      ["width", "panel.kv_cache.factor.width"], ["size", "panel.kv_cache.factor.size"], ["positions", "panel.kv_cache.factor.positions"],
      ["sum", "panel.kv_cache.factor.sum"], ["bytes", "panel.kv_cache.factor.bytes"]].map(([name, key]) => [name, box(key)]));
    const order = ["kv", "layers", "heads", "width", "size", "positions", "sum"];
    const parts = order.map((name, k) => ({ name, node: el("div", { class: "bot-factor-part" }, k ? sign("×") : null, boxes[name].node) }));
    boxes.bytes.node.classList.add("is-result");
    const row = el("div", { class: "bot-formula" }, parts.map((part) => part.node), el("div", { class: "bot-factor-part" }, sign("="), boxes.bytes.node));
    const verdict = el("p", { class: "bot-formula-verdict" });
    const node = el("div", { class: "bot-kv-formula" }, row, verdict);

    return {
      node,
      draw(found, model, i) {
        const { after, bytes } = found.at(i);
        const groups = found.groups(after);
        const formula = found.bytes(after);
        const put = (name, text) => BOT.setText(boxes[name].value, text);
        put("kv", "2");
        put("layers", BOT.num(model.n_layers));
        put("heads", BOT.num(model.n_kv_heads));
        put("width", BOT.num(model.d_head));
        put("size", found.itemsize === null ? "–" : BOT.num(found.itemsize));
        put("positions", BOT.num(groups[0].positions));
        put("sum", groups.map((group) => `${BOT.num(group.layers)} × ${BOT.num(group.positions)}`).join(" + "));
        put("bytes", formula === null ? "–" : BOT.num(formula));
        for (const { name, node: part } of parts) {
          part.hidden = found.mixed ? name === "layers" || name === "positions" : name === "sum";
        }
        const same = formula === bytes;
        BOT.setAttr(verdict, "data-same", formula === null || i < 0 ? null : same ? "yes" : "no");
        const values = { bytes: BOT.num(bytes), read: BOT.bytes(bytes), gap: formula === null ? "–" : BOT.num(Math.abs(bytes - formula)) };
        BOT.setText(verdict, i < 0 ? BOT.t("panel.kv_cache.empty")
          : BOT.t(formula === null ? "panel.kv_cache.bytes_only" : same ? "panel.kv_cache.equal" : bytes > formula ? "panel.kv_cache.more" : "panel.kv_cache.less", values));
      },
    };
  };

  /** Bytes after every run as stairs: {node, trace(trace), draw(i)}. */
  BOT.cacheGrowth = (go) => {
    const line = svg("path", { class: "bot-growth-line" });
    const area = svg("path", { class: "bot-growth-area" });
    const drawing = svg("svg", { class: "bot-growth-svg", preserveAspectRatio: "none", "aria-hidden": "true" }, area, line);
    const dot = el("i", { class: "bot-growth-dot", "aria-hidden": "true" });
    const says = el("span", { class: "bot-growth-says" });
    const plot = el("div", { class: "bot-growth-plot", role: "img", on: { click: (event) => {
      const box = plot.getBoundingClientRect();
      go(Math.max(0, Math.min(n - 1, Math.floor(((event.clientX - box.left) / box.width) * n))));
    } } }, drawing, dot);
    const [top, half, zero] = [el("span"), el("span"), el("span")];
    const ends = [el("span"), el("span")];
    const node = el("div", { class: "bot-growth" },
      el("h4", { class: "bot-kv-title" }, BOT.say(el("span"), "panel.kv_cache.growth"), says),
      el("div", { class: "bot-growth-frame" }, el("div", { class: "bot-growth-ticks", "aria-hidden": "true" }, top, half, zero), plot,
        el("div", { class: "bot-growth-axis" }, ends)));
    let n = 1;
    let most = 1;
    let steps = [];

    function draw(i) {
      BOT.setText(ends[0], BOT.t("panel.kv_cache.run_first"));
      BOT.setText(ends[1], n > 1 ? BOT.t("panel.kv_cache.run", { n: BOT.num(n) }) : "");
      BOT.setText(top, BOT.bytes(most));
      BOT.setText(half, BOT.bytes(most / 2));
      BOT.setText(zero, "0");
      const step = steps[i];
      dot.hidden = !step;
      plot.style.setProperty("--x", (i + 0.5) / n);
      plot.style.setProperty("--y", step ? step.cache[2] / most : 0);
      BOT.setText(says, step ? BOT.t("panel.kv_cache.growth_now", { run: BOT.num(i + 1), n: BOT.num(step.cache[1]), bytes: BOT.bytes(step.cache[2]) }) : BOT.t("panel.kv_cache.empty"));
      BOT.setAttr(plot, "aria-label", BOT.t("panel.kv_cache.growth_label", { n: BOT.num(n), bytes: BOT.bytes(most) }));
    }

    return {
      node, draw,
      trace(trace) {
        steps = trace.steps;
        n = Math.max(1, steps.length);
        most = Math.max(1, ...steps.map((step) => step.cache[2]));
        const stairs = steps.map((step, k) => `${k ? "L" : "M"}${k} ${1 - step.cache[2] / most}H${k + 1}`).join("");
        BOT.setAttr(drawing, "viewBox", `0 0 ${n} 1`);
        BOT.setAttr(line, "d", stairs);
        BOT.setAttr(area, "d", stairs ? `${stairs}V1H0z` : "");
      },
    };
  };
})();

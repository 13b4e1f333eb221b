/* The six stages in a row: where the reader is, and what has been counted so far. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, state } = BOT;

  const STAGES = [
    ["template", "stage.template"], ["tokens", "stage.tokens"], ["embedding", "stage.prefill"],
    ["candidates", "stage.pick"], ["timeline", "stage.decode"], ["text", "stage.text"],
  ];

  /** The stage that step i ends in: the prompt's tokens before the first run, then the runs. */
  function stageOf(trace, i) {
    if (i < 0) return state.running ? 3 : 2;
    return trace.steps[i].phase === "prefill" ? 3 : 5;
  }

  /** Characters visible after each step, counted once a step as code points. */
  const visible = new WeakMap();
  BOT.visibleCount = (trace, i) => {
    if (!visible.has(trace)) visible.set(trace, [0]);
    const sums = visible.get(trace);
    while (sums.length <= i + 1) {
      sums.push(sums[sums.length - 1] + [...trace.steps[sums.length - 1].emitted].length);
    }
    return sums[i + 1];
  };

  BOT.bar({
    class: "bot-map", tag: "nav", group: "bot-deck",
    mount(body) {
      BOT.say(body, "ui.map", "aria-label");
      const tiles = STAGES.map(([id, key], k) => {
        const count = el("span", { class: "bot-tile-count" });
        const button = el("button", { class: "bot-tile", type: "button", on: { click: () => BOT.visit(id) } },
          el("span", { class: "bot-tile-no", "aria-hidden": "true" }, k + 1),
          BOT.say(el("span", { class: "bot-tile-name" }), key), count);
        return { button, count };
      });
      body.append(el("ol", { class: "bot-tiles" }, tiles.map(({ button }) => el("li", null, button))));

      function prefill(trace, i) {
        const { progress } = state;
        if (progress) return BOT.t("stage.prefill.progress", { done: BOT.num(progress.done), total: BOT.num(progress.total) });
        if (i < 0) return BOT.t("stage.prefill.waiting");
        return BOT.t("stage.prefill.count", { n: BOT.num(trace.prompt.length), ms: BOT.ms(trace.steps[0].ms[0]) });
      }

      function draw() {
        const { trace, i } = state;
        if (!trace) return;
        const step = trace.steps[i];
        const now = stageOf(trace, i);
        const counts = [
          BOT.t("stage.template.count", { n: BOT.num([...trace.templated_text].length) }),
          BOT.t("stage.tokens.count", { n: BOT.num(trace.prompt.length) }),
          prefill(trace, i),
          step ? `${BOT.tokenText(step.tok.hex)} ${BOT.prob(Math.exp(step.logprob))}` : "–",
          BOT.t("stage.decode.count", { i: BOT.num(i + 1), n: BOT.num(trace.steps.length) }),
          step && step.pending
            ? BOT.t("stage.text.held", { n: BOT.num(BOT.visibleCount(trace, i)), k: step.pending.length / 2 })
            : BOT.t("stage.text.count", { n: BOT.num(BOT.visibleCount(trace, i)) }),
        ];
        tiles.forEach(({ button, count }, k) => {
          BOT.setText(count, counts[k]);
          BOT.setAttr(button, "aria-current", k + 1 === now ? "step" : null);
          BOT.setAttr(button, "data-done", k + 1 < now ? "" : null);
        });
      }

      BOT.on("progress", draw);
      return { trace() {}, append: draw, end: draw, lang: draw, step: draw };
    },
  });
})();

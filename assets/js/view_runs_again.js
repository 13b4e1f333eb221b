/* The same answer once more without the cache: asked for by a switch, measured, laid beside. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, state } = BOT;

  /** {node, draw(data), result(data)}. changed() is called when there is another result. */
  BOT.runAgain = (changed) => {
    const known = new WeakMap(); // data -> {uncached, recorded}
    let now = { data: null, job: null, told: null, error: null };
    const apply = BOT.latest(
      ({ data, found }) => {
        known.set(data, found);
        if (now.data === data) Object.assign(now, { job: null, told: null, error: null });
        changed();
      },
      (error) => {
        Object.assign(now, { job: null, told: null, error });
        changed();
      });

    const go = el("button", { class: "bot-btn bot-again-switch", type: "button", role: "switch", on: { click: toggle } },
      el("i", { "aria-hidden": "true" }), BOT.say(el("span"), "panel.runs.again.switch"));
    const stop = BOT.say(el("button", { class: "bot-btn", type: "button", on: { click: halt } }), "ui.inside.stop");
    const meter = el("progress", { class: "bot-progress", max: 1 });
    const words = el("p", { class: "bot-again-words", role: "status" });
    const node = el("div", { class: "bot-again" }, el("div", { class: "bot-again-row" }, go, meter, stop), words);
    let on = false;

    function toggle() {
      if (!now.data) return;
      on = !on;
      if (on && !known.has(now.data) && !now.job) {
        const mine = now;
        const { data } = now;
        now.error = null;
        now.job = data.work("uncached", {}, (told) => {
          if (now !== mine) return;
          now.told = told;
          draw(data);
        });
        apply(now.job.promise.then((found) => ({ data, found })));
      } else if (!on && now.job) halt();
      changed();
    }

    function halt() {
      if (now.job) now.job.cancel();
      on = false;
      Object.assign(now, { job: null, told: null });
      changed();
    }

    function draw(data) {
      if (now.data !== data) {
        if (now.job) now.job.cancel();
        now = { data, job: null, told: null, error: null };
        on = false;
      }
      const running = now.job !== null;
      go.disabled = !data;
      BOT.setAttr(go, "aria-checked", on);
      stop.hidden = meter.hidden = !running;
      if (now.told && typeof now.told.fraction === "number") meter.value = now.told.fraction;
      else meter.removeAttribute("value");
      if (now.error && !running) on = false;
      const sentence = !data ? BOT.t("panel.runs.again.later")
        : running ? (now.told ? BOT.workSays(now.told) : BOT.t("ui.inside.stage.uncached"))
          : now.error ? BOT.pick(now.error.text) || BOT.t("panel.runs.again.failed")
            : on && known.has(data) ? says(known.get(data)) : BOT.t("panel.runs.again.offer");
      BOT.setText(words, sentence);
    }

    /** What came of it, in words: the work, the time, and how near the scores are. */
    function says({ uncached, recorded }) {
      const { steps, prompt } = state.trace;
      const sum = (values) => values.reduce((a, b) => a + b, 0);
      const before = sum(steps.map((step) => step.ms[0]));
      const after = sum([...uncached.ms.data]);
      const positions = sum([...uncached.positions.data]);
      const gap = BOT.argmax(uncached.logits_gap.data);
      const values = {
        positions: BOT.num(positions), kept: BOT.num(prompt.length + steps.length - 1),
        work: BOT.sig(positions / (prompt.length + steps.length - 1)),
        without: BOT.ms(after), with: BOT.ms(before), time: BOT.sig(after / before), part: BOT.sig(before / after),
        gap: BOT.sig(uncached.logits_gap.data[gap]), run: BOT.num(gap + 1),
      };
      const verdict = BOT.t(after > before ? "panel.runs.again.slower" : "panel.runs.again.not_slower", values);
      return BOT.joined([verdict, BOT.t("panel.runs.again.gap", values), BOT.t(recorded ? "panel.runs.again.recorded" : "panel.runs.again.now")]);
    }

    return { node, draw, result: (data) => (on && data && known.has(data) ? known.get(data).uncached : null) };
  };
})();

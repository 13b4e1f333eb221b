/* A panel about the inside of the run, and the gate before it. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, state, inside } = BOT;

  /** What stands where the inside is not there yet: {node, draw()}. */
  function gate() {
    const words = el("p", { class: "bot-gate-words", role: "status" });
    const meter = el("progress", { class: "bot-progress", max: 1 });
    const go = BOT.say(el("button", { class: "bot-btn", type: "button", on: { click: () => inside.start() } }), "ui.inside.start");
    const stop = BOT.say(el("button", { class: "bot-btn", type: "button", on: { click: () => inside.stop() } }), "ui.inside.stop");
    const box = el("input", { type: "checkbox", on: { change: () => { inside.auto = box.checked; } } });
    const auto = el("label", { class: "bot-gate-auto" }, box, " ", BOT.say(el("span"), "ui.inside.auto"));
    const node = el("div", { class: "bot-gate" }, words, meter, el("div", { class: "bot-gate-row" }, go, stop, auto));

    function says() {
      const { phase, told, error } = inside.now;
      if (phase === "later") return BOT.t(state.trace && state.trace.steps.length ? "ui.inside.later" : "ui.inside.no_run");
      if (phase === "failed") return BOT.pick(error.text) || BOT.t("ui.inside.failed");
      if (phase === "none") return BOT.t("ui.inside.none");
      return BOT.workSays(told);
    }

    return {
      node,
      draw() {
        const { phase, told } = inside.now;
        BOT.setText(words, says());
        BOT.setAttr(node, "data-phase", phase);
        meter.hidden = phase !== "running";
        if (told && typeof told.fraction === "number") meter.value = told.fraction;
        else meter.removeAttribute("value");
        go.hidden = phase !== "none" && phase !== "failed";
        stop.hidden = phase !== "running";
        auto.hidden = phase === "later";
        box.checked = inside.auto;
      },
    };
  }

  /** One sentence on how far a job is (an answer of the server's `work`, or null at the start). */
  BOT.workSays = (told) => {
    if (!told) return BOT.t("ui.inside.asking");
    if (told.state === "waiting") return BOT.t("ui.inside.waiting", { n: told.ahead });
    const stage = BOT.t(`ui.inside.stage.${told.stage}`);
    return typeof told.fraction === "number" ? `${stage} · ${Math.round(100 * told.fraction)}%` : stage;
  };

  /** insidePanel({id, stage, deck, mount(body, ctx) -> {inside(data), step(i), focus(focus), lang()}}).
   *  inside: other data; step: another step of it; focus: another layer, head or query position.
   *  Each is called only while the panel is on screen and the data is there. */
  BOT.insidePanel = (def) => BOT.panel({
    ...def,
    mount(body, base) {
      const door = gate();
      const content = el("div", { class: "bot-inside", hidden: true });
      body.append(door.node, content);
      const ctx = Object.create(base, {
        data: { get: () => inside.now.data },
        focus: { get: () => inside.focus },
        setFocus: { value: inside.setFocus },
      });
      const api = def.mount(content, ctx);
      const seen = { data: null, i: null, focus: -1, finish: null };

      function refresh() {
        inside.want();
        const { data, phase } = inside.now;
        const ready = phase === "ready";
        content.hidden = !ready;
        door.node.hidden = ready;
        if (!ready) {
          seen.data = null;
          return door.draw();
        }
        const other = seen.data !== data;
        if (other) {
          Object.assign(seen, { data, i: null, focus: -1 });
          api.inside(data);
        }
        if (seen.i !== state.i) {
          seen.i = state.i;
          if (api.step) api.step(state.i);
        }
        if (seen.focus !== inside.focusVersion) {
          seen.focus = inside.focusVersion;
          if (api.focus) api.focus(inside.focus);
        }
      }

      return {
        step() {},
        refresh,
        lang() {
          door.draw();
          if (seen.data && api.lang) api.lang();
        },
      };
    },
  });
})();

/* The replay: buttons, slider, speed and keys. It moves through what the browser already has and
 * asks the server for nothing. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, svg, state } = BOT;

  const SPEEDS = ["0.5", "1", "2", "4", "8", "16", "real"];
  const ICONS = {
    first: "M5 4h2.4v16H5zM20 4v16L8.6 12z",
    back: "M17 4v16L6 12z",
    play: "M6 3.5v17L20 12z",
    pause: "M5.5 4h4.6v16H5.5zM13.9 4h4.6v16h-4.6z",
    forward: "M7 4v16l11-8z",
    last: "M4 4v16l11.4-8zM16.6 4H19v16h-2.4z",
  };
  // Keys belong to the reader's control where it uses them itself.
  const TYPES = "input,textarea,select,[contenteditable],[role=textbox],[role=combobox],[role=listbox],[role=option],[role=radio],[role=tab],[role=menuitem],[role=slider]:not(.bot-tl-over),[data-bot-keys=own]";
  const PRESSES = "button,a[href],summary,[role=button],[role=switch],[role=checkbox]";

  const SLEPT_MS = 250;

  let timer = 0;
  let due = 0; // when the next step is to be shown, in the clock of performance.now()
  let speed = "2";
  let controls = null;

  const count = () => (state.trace ? state.trace.steps.length : 0);

  /** Milliseconds from step i to the next; "real" is the time the run itself took. */
  function pause(i) {
    if (speed !== "real") return 1000 / Number(speed);
    const [now, next] = [state.trace.steps[i], state.trace.steps[i + 1]];
    return next ? Math.max(0, next.ms[2] - (now ? now.ms[2] : 0)) : 0;
  }

  // Steps that fall due between two frames are passed over, not queued; a page that slept for a
  // while goes on where it was.
  function tick() {
    if (!state.playing) return;
    const now = performance.now();
    due = Math.max(due, now - SLEPT_MS);
    let { i } = state;
    while (i < count() - 1 && now >= due) due += pause(++i);
    if (i !== state.i) BOT.go(i, "play");
    if (i >= count() - 1 && !state.running) return stop();
    timer = requestAnimationFrame(tick);
  }

  function play() {
    if (!count()) return;
    if (state.i >= count() - 1 && !state.running) BOT.go(-1, "play");
    state.playing = true;
    due = performance.now() + pause(state.i);
    timer = requestAnimationFrame(tick);
    if (controls) controls.buttons();
  }

  function stop() {
    if (!state.playing) return;
    state.playing = false;
    cancelAnimationFrame(timer);
    if (controls) controls.buttons();
  }

  const ACTIONS = {
    first: () => BOT.go(-1),
    back: () => BOT.go(state.i - 1),
    play: () => (state.playing ? stop() : play()),
    forward: () => BOT.go(state.i + 1),
    last: () => BOT.go(count() - 1),
  };
  const KEYS = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last", " ": "play" };

  function keydown(event) {
    const action = KEYS[event.key];
    if (!action || !count() || event.defaultPrevented) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.isComposing) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (target.closest(TYPES) || (event.key === " " && target.closest(PRESSES))) return;
    event.preventDefault();
    ACTIONS[action]();
  }

  BOT.on("go", (origin) => {
    if (origin === "user") stop();
  });
  BOT.on("trace", stop);
  BOT.on("mount", () => document.addEventListener("keydown", keydown));

  const icon = (name) => svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));

  BOT.bar({
    class: "bot-player", group: "bot-deck",
    mount(body) {
      body.setAttribute("role", "group");
      BOT.say(body, "ui.player", "aria-label");
      const button = (name, key) =>
        BOT.say(BOT.say(el("button", { class: `bot-btn bot-btn-${name}`, type: "button", on: { click: ACTIONS[name] } }, icon(name)), key, "aria-label"), key, "title");
      const first = button("first", "ui.first");
      const back = button("back", "ui.back");
      const playing = button("play", "ui.play");
      const forward = button("forward", "ui.forward");
      const last = button("last", "ui.last");
      const path = playing.querySelector("path");

      const slider = BOT.say(el("input", { class: "bot-slider", type: "range", min: -1, max: -1, step: 1, value: -1,
        on: { input: () => BOT.go(Number(slider.value)) } }), "ui.slider", "aria-label");
      const options = SPEEDS.map((value) => el("option", { value, selected: value === speed }));
      const select = BOT.say(el("select", { class: "bot-speed", on: { change: () => {
        speed = select.value;
        if (state.playing) due = performance.now() + pause(state.i);
      } } }, options), "ui.speed", "aria-label");
      const live = BOT.say(el("button", { class: "bot-btn bot-live", type: "button", on: { click: () => BOT.go(count() - 1) } }), "ui.live");
      const counters = el("p", { class: "bot-counters" });
      const place = el("output", { class: "bot-place" });
      body.append(el("div", { class: "bot-buttons" }, first, back, playing, forward, last),
        el("div", { class: "bot-track" }, slider), place, live, select, counters);

      controls = {
        buttons() {
          const { i } = state;
          const key = state.playing ? "ui.pause" : "ui.play";
          path.setAttribute("d", ICONS[state.playing ? "pause" : "play"]);
          BOT.setAttr(playing, "aria-label", BOT.t(key));
          BOT.setAttr(playing, "title", BOT.t(key));
          // Not `disabled`: that would drop the keyboard's focus at either end.
          for (const b of [first, back]) BOT.setAttr(b, "aria-disabled", i < 0 ? "true" : null);
          for (const b of [forward, last]) BOT.setAttr(b, "aria-disabled", i >= count() - 1 ? "true" : null);
          BOT.setAttr(playing, "aria-disabled", count() ? null : "true");
          live.hidden = !state.running || state.follow;
        },
        draw() {
          const { trace, i } = state;
          if (!trace) return;
          slider.max = String(count() - 1);
          slider.value = String(i);
          slider.style.setProperty("--at", String(count() ? (i + 1) / count() : 0));
          const run = { i: BOT.num(i + 1), n: BOT.num(count()) };
          BOT.setText(place, `${run.i} / ${run.n}`);
          BOT.setAttr(slider, "aria-valuetext", BOT.t("ui.step_of", run));
          BOT.setText(counters, BOT.t("ui.counters", { ...run, tokens: BOT.num(trace.prompt.length),
            scores: BOT.num((i + 1) * trace.model.vocab_rows) }));
          controls.buttons();
        },
        lang() {
          for (const option of options) {
            BOT.setText(option, option.value === "real" ? BOT.t("ui.speed.real") : BOT.t("ui.speed.rate", { n: option.value }));
          }
          controls.draw();
        },
      };
      controls.lang();
      const { draw, lang } = controls;
      return { trace: draw, append: draw, end: draw, lang, step: draw };
    },
  });
})();

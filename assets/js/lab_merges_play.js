/* Merge by merge: buttons, a slider, a speed and keys. Moving is the reader's alone; nothing plays by
 * itself.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, svg } = BOT;
  const PACES = { slow: 1800, normal: 900, fast: 350 };
  const ICONS = {
    first: "M5 4h2.4v16H5zM20 4v16L8.6 12z", back: "M17 4v16L6 12z", play: "M6 3.5v17L20 12z",
    pause: "M5.5 4h4.6v16H5.5zM13.9 4h4.6v16h-4.6z", forward: "M7 4v16l11-8z", last: "M4 4v16l11.4-8zM16.6 4H19v16h-2.4z",
  };

  /** mergePlayer(stage, draw(s)) -> {node, set(n), go(s), at, stop()}: n merges, the state after s of them
   *  shown by draw. stage: the node whose keys move. */
  BOT.mergePlayer = (stage, draw) => {
    let n = 0;
    let at = 0;
    let timer = 0;
    const icons = Object.fromEntries(Object.entries(ICONS).map(([name, d]) => [name, svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d }))]));
    const button = (name, act) => BOT.say(el("button", { class: `bot-btn bot-merges-${name}`, type: "button", on: { click: act } }, icons[name]), `panel.merges.button.${name}`, "aria-label");
    const buttons = {
      first: button("first", () => go(0)), back: button("back", () => go(at - 1)), play: button("play", toggle),
      forward: button("forward", () => go(at + 1)), last: button("last", () => go(n)),
    };
    buttons.play.append(icons.pause);
    const slider = BOT.say(el("input", { class: "bot-slider", type: "range", min: 0, value: 0, step: 1, on: { input: () => go(Number(slider.value)) } }), "panel.merges.slider", "aria-label");
    const place = el("span", { class: "bot-merges-place" });
    const options = Object.keys(PACES).map((name) => BOT.say(el("option", { value: name, selected: name === "normal" }), `panel.merges.pace.${name}`));
    const pace = BOT.say(el("select", { class: "bot-speed" }, options), "panel.merges.pace", "aria-label");
    const node = el("div", { class: "bot-merges-player" }, el("div", { class: "bot-merges-buttons" }, Object.values(buttons)), slider, place, pace);
    stage.addEventListener("keydown", keydown);

    function show() {
      slider.max = String(n);
      slider.value = String(at);
      slider.style.setProperty("--at", n ? at / n : 0);
      BOT.setAttr(slider, "aria-valuetext", BOT.t("panel.merges.place", { at, total: n }));
      BOT.setText(place, `${at} / ${n}`);
      for (const name of ["first", "back"]) BOT.setAttr(buttons[name], "aria-disabled", at === 0 ? "true" : null);
      for (const name of ["forward", "last"]) BOT.setAttr(buttons[name], "aria-disabled", at === n ? "true" : null);
      icons.play.style.display = timer ? "none" : "";
      icons.pause.style.display = timer ? "" : "none";
      BOT.setAttr(buttons.play, "aria-label", BOT.t(timer ? "panel.merges.button.pause" : "panel.merges.button.play"));
      BOT.setAttr(buttons.play, "aria-disabled", n ? null : "true");
      draw(at);
    }

    function stop() {
      clearTimeout(timer);
      timer = 0;
    }
    function go(s, playing = false) {
      if (!playing) stop();
      at = Math.max(0, Math.min(n, s));
      show();
    }
    function tick() {
      if (at >= n - 1) stop();
      else timer = setTimeout(tick, PACES[pace.value]);
      go(at + 1, true);
    }
    function toggle() {
      if (timer) {
        stop();
        return show();
      }
      if (!n) return;
      timer = setTimeout(tick, PACES[pace.value]);
      go(at === n ? 0 : at, true);
    }

    function keydown(event) {
      if (event.target !== stage) return;
      const to = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, Home: 0, End: n }[event.key];
      if (to !== undefined) go(to);
      else if (event.key === " ") toggle();
      else return;
      event.preventDefault();
    }

    return {
      node, go, stop,
      get at() { return at; },
      /** Another word, shown at its end. */
      set(merges) {
        stop();
        n = at = merges;
        show();
      },
      lang: show,
    };
  };
})();

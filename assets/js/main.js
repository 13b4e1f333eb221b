/* The beginning: language and place from the address, the first trace, and the address kept true. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { state } = BOT;
  const SETTLE_MS = 400;

  const query = new URLSearchParams(location.search);
  const spoken = query.get("lang") || (navigator.language || "").slice(0, 2);
  if (Object.hasOwn(window.BOT_TEXT || {}, spoken)) state.lang = spoken;

  /** The step in the address counts runs from 1, as the page does; 0 is before the first. */
  function stepAsked() {
    const found = /^#step=(\d{1,7})$/.exec(location.hash);
    return found ? Number(found[1]) - 1 : undefined;
  }

  function address(change) {
    const url = new URL(location.href);
    change(url);
    if (url.href !== location.href) history.replaceState(history.state, "", url);
  }

  BOT.on("mount", () => {
    const view = query.get("view"); // a panel, in its tab
    if (view) requestAnimationFrame(() => BOT.visit(view));
    const name = query.get("trace");
    if (name) BOT.example(name, stepAsked());
    if (window.BOT_INITIAL && !state.trace) {
      // Shown at once, also while a named one is on its way.
      BOT.receive({ type: "load", trace: window.BOT_INITIAL, step: name ? undefined : stepAsked() });
      const [first] = window.BOT_EXAMPLES || []; // the page opens with the first of them
      if (first) state.example = first.name;
      BOT.emit("example", { name: state.example, asked: false });
    }
  });

  BOT.on("example", ({ name, asked: byReader }) => {
    if (byReader) address((url) => url.searchParams.set("trace", name));
  });
  BOT.on("leave", () => {
    if (state.example) address((url) => url.searchParams.delete("trace"));
  });

  let settle = 0;
  BOT.on("go", (origin) => {
    clearTimeout(settle);
    if (origin !== "user") return;
    settle = setTimeout(() => address((url) => { url.hash = `step=${state.i + 1}`; }), SETTLE_MS);
  });
  BOT.on("trace", () => {
    clearTimeout(settle);
  });
  addEventListener("hashchange", () => {
    const step = stepAsked();
    if (step !== undefined) BOT.go(step);
  });
})();

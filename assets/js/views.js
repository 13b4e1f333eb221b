/* One state, many views.
 *
 * A view says what to do with a new trace, one more step, another step, or another language; it is
 * told at most once a frame, and only while it is on screen: what it has shown is compared with the
 * state, so a view that was off screen catches up when it comes back.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { state } = BOT;

  const views = [];
  let frame = 0;

  /** Bring every view that is on screen up to the state, in the next frame. */
  BOT.schedule = () => {
    if (!frame) frame = requestAnimationFrame(flush);
  };

  function flush() {
    frame = 0;
    for (const view of views) if (view.visible && !view.failed) refresh(view);
    BOT.emit("frame", state.i);
  }

  function refresh(view) {
    const { trace } = state;
    const { api } = view;
    try {
      if (view.lang !== state.lang) {
        view.lang = state.lang;
        if (api.lang) api.lang(state.lang);
      }
      if (api.always) api.always();
      if (!trace) return;
      if (view.trace !== trace) {
        Object.assign(view, { trace, seen: trace.steps.length, i: null, finish: trace.finish });
        if (api.trace) api.trace(trace);
        view.body.style.pointerEvents = "";
      }
      while (view.seen < trace.steps.length) {
        const step = trace.steps[view.seen++];
        if (api.append) api.append(step);
      }
      if (view.finish !== trace.finish) {
        view.finish = trace.finish;
        if (api.end) api.end(trace);
      }
      if (view.i !== state.i) {
        view.i = state.i;
        api.step(state.i);
      }
      if (api.refresh) api.refresh();
    } catch (error) {
      fail(view, error);
    }
  }

  /** One broken view must not take the page with it, nor show yesterday's numbers. */
  function fail(view, error) {
    console.error(error);
    view.failed = true;
    view.body.replaceChildren(BOT.say(BOT.el("p", { class: "bot-note bot-note-bad" }), "ui.view_failed"));
  }

  // What still shows the trace before can not be clicked: its numbers would be looked up in the new.
  // (The keyboard may go there; that brings it on screen, and so up to date.)
  BOT.on("trace", (trace) => {
    for (const view of views) if (view.trace !== trace) view.body.style.pointerEvents = "none";
  });

  const observer = "IntersectionObserver" in window
    ? new IntersectionObserver((entries) => {
        for (const entry of entries) {
          const view = views.find((v) => v.element === entry.target);
          if (view) view.visible = entry.isIntersecting;
        }
        BOT.schedule();
      }, { rootMargin: "240px 0px" })
    : null;

  /** What a view is given: the state to read, and ways to act on it. */
  const ctx = (BOT.ctx = {
    get trace() { return state.trace; },
    get i() { return state.i; },
    get lang() { return state.lang; },
    get server() { return state.server; },
    go: (i) => BOT.go(i),
    select: (what) => BOT.emit("select", what),
    on: BOT.on,
  });

  /** Mount a view in `body`. lazy: told only while `element` is near the screen. */
  function show(def, element, body, lazy) {
    const view = { element, body, api: null, trace: null, seen: 0, i: null, lang: state.lang };
    view.visible = !(lazy && observer);
    try {
      view.api = def.mount(body, ctx);
    } catch (error) {
      fail(view, error);
    }
    views.push(view);
    if (lazy && observer) observer.observe(element);
  }

  const bars = [];
  const panels = [];
  /** A view without a frame, in the order of registering: {mount(body, ctx), class, tag, lazy};
   *  neighbours with the same `group` share one box of that class. */
  BOT.bar = (def) => bars.push(def);
  /** A framed panel of a stage: {id, stage, deck, mount(body, ctx) -> {trace, append, end, step, lang,
   *  refresh, always}}. refresh is called in every frame while it is on screen, `always` also where
   *  there is no trace. deck: the chapter it is in. */
  BOT.panel = (def) => panels.push(def);

  function framed(def) {
    const body = BOT.el("div", { class: "bot-body" });
    const how = BOT.el("p", { class: "bot-how" },
      BOT.say(BOT.el("span", { class: "bot-how-label" }), "ui.how"), " ",
      BOT.say(BOT.el("span"), `panel.${def.id}.how`));
    const element = BOT.el("section", {
      class: `bot-panel bot-panel-${def.id}`, id: `bot-panel-${def.id}`, tabindex: "-1",
      "aria-labelledby": `bot-title-${def.id}`, "data-stage": def.stage,
    },
      BOT.el("header", { class: "bot-panel-head" },
        def.deck ? null : BOT.el("span", { class: "bot-numeral", "aria-hidden": "true" }, def.stage),
        BOT.say(BOT.el(def.deck ? "h3" : "h2", { class: "bot-title", id: `bot-title-${def.id}` }), `panel.${def.id}.title`),
        BOT.say(BOT.el("p", { class: "bot-why" }), `panel.${def.id}.why`)),
      body, how);
    return { element, body };
  }

  /** Build the page inside `element` once. `server` is the page's own set of server functions. */
  BOT.mount = (element, server) => {
    if (state.root) return;
    const root = BOT.el("div", { class: "bot-root", lang: state.lang === "zh" ? "zh-CN" : state.lang });
    state.root = root;
    state.server = server || {};
    element.append(root);
    for (const def of bars) {
      const body = BOT.el(def.tag || "div", { class: def.class });
      let place = root;
      if (def.group) {
        place = root.lastElementChild;
        if (!place || !place.classList.contains(def.group)) root.append((place = BOT.el("div", { class: def.group })));
      }
      place.append(body);
      show(def, body, body, def.lazy);
    }
    const grid = BOT.el("div", { class: "bot-grid" });
    root.append(grid);
    const place = (def) => (def.deck ? BOT.chapterStage(def.deck) + 0.5 : def.stage);
    for (const def of [...panels].sort((a, b) => place(a) - place(b))) {
      const { element: section, body } = framed(def);
      if (def.deck) {
        const chapter = BOT.chapter(def.deck);
        if (!chapter.element.parentNode) grid.append(chapter.element);
        chapter.add(def.id, section);
      } else grid.append(section);
      show(def, section, body, true);
    }
    BOT.emit("mount", root);
    BOT.schedule();
  };
})();

/* The ground of the page's client: nodes, texts, events, the state, and the views that show it.
 *
 * One state, many views. A view says what to do with a new trace, one more step, another step, or
 * another language; it is told at most once a frame, and only while it is on screen: what it has
 * shown is compared with the state, so a view that was off screen catches up when it comes back.
 * Text of users and models is put in by text nodes and nothing else.
 */
"use strict";
(() => {
  const BOT = (window.BOT = window.BOT || {});
  const SVG = "http://www.w3.org/2000/svg";

  /* ---- nodes ---- */

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name === "on") for (const [event, fn] of Object.entries(value)) node.addEventListener(event, fn);
      else if (name === "style") for (const [k, v] of Object.entries(value)) node.style.setProperty(k, v);
      else node.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children.flat(Infinity)) {
      if (child === null || child === undefined || child === false) continue;
      node.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
    return node;
  }

  /** el("div", {class, on: {click}, style: {"--x": 1}}, ...children); strings become text nodes. */
  BOT.el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  /** The same for SVG. */
  BOT.svg = (tag, attributes, ...children) =>
    fill(document.createElementNS(SVG, tag), attributes, children);

  /** Set a node's text, attribute or class only where it differs: an equal write still costs. */
  BOT.setText = (node, text) => {
    if (node.textContent !== text) node.textContent = text;
  };
  BOT.setAttr = (node, name, value) => {
    if (value === null) node.removeAttribute(name);
    else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, String(value));
  };

  /* ---- events and state ---- */

  const listeners = new Map();
  /** Call fn(data) on each event `name`; returns a function that stops it. */
  BOT.on = (name, fn) => {
    if (!listeners.has(name)) listeners.set(name, new Set());
    listeners.get(name).add(fn);
    return () => listeners.get(name).delete(fn);
  };
  BOT.emit = (name, data) => {
    for (const fn of [...(listeners.get(name) || [])]) {
      try {
        fn(data);
      } catch (error) {
        console.error(error);
      }
    }
  };

  /** i: the step shown, -1 before the first. run: the run that streams or streamed in.
   *  follow: while a run streams, stay on its newest step. */
  const state = (BOT.state = {
    trace: null, i: -1, run: null, running: false, follow: true, playing: false,
    progress: null, status: null, lang: "en", root: null, server: null,
  });

  /* ---- texts ---- */

  const labels = [];
  const unknown = new Set();

  /** The sentence `key` in the page's language, its {fields} filled once with plain text.
   *  Where {n} is 1, `key.one` is taken if there is one. */
  BOT.t = (key, values) => {
    const texts = (window.BOT_TEXT || {})[state.lang] || {};
    if (values && String(values.n) === "1" && Object.hasOwn(texts, `${key}.one`)) key += ".one";
    if (!Object.hasOwn(texts, key)) {
      if (!unknown.has(key)) console.error("no text for", key);
      unknown.add(key);
      return key;
    }
    return texts[key].replace(/\{(\w+)\}/g, (field, name) =>
      values && Object.hasOwn(values, name) ? String(values[name]) : field);
  };

  /** Text that came in both languages: {en, zh}. */
  BOT.pick = (text) => (text && (text[state.lang] || text.en)) || "";

  /** Put a fixed text on a node (or on one of its attributes) now and at each change of language. */
  BOT.say = (node, key, attribute) => {
    const put = () => {
      if (attribute) node.setAttribute(attribute, BOT.t(key));
      else BOT.setText(node, BOT.t(key));
    };
    labels.push(put);
    put();
    return node;
  };

  BOT.setLang = (lang) => {
    if (lang === state.lang || !(window.BOT_TEXT || {})[lang]) return;
    state.lang = lang;
    if (state.root) state.root.lang = lang === "zh" ? "zh-CN" : lang;
    for (const put of labels) put();
    BOT.emit("lang", lang);
    BOT.schedule();
  };

  /* ---- numbers of a step: base64 of little-endian float32 ---- */

  /** Float32Array of a base64 string (every browser's machine is little-endian). */
  BOT.f32 = (base64) => {
    const bytes = atob(base64);
    const buffer = new Uint8Array(bytes.length);
    for (let k = 0; k < bytes.length; k++) buffer[k] = bytes.charCodeAt(k);
    return new Float32Array(buffer.buffer);
  };

  const decoded = new WeakMap();
  /** A step's arrays, decoded once: {logits f32[C], probs [S][C], kept u8 [S][C], tail f32[S]}.
   *  The payload leaves out the zeros of candidates that a stage has cut; a changed file may give
   *  them a probability, and then all C are there. */
  BOT.arrays = (step) => {
    if (decoded.has(step)) return decoded.get(step);
    const c = step.ids.length;
    const probs = [];
    const kept = [];
    for (let s = 0; s < step.stages.length; s++) {
      const values = BOT.f32(step.probs[s]);
      const which = step.kept[s];
      const row = new Float32Array(c);
      const flags = new Uint8Array(c);
      const places = Array.isArray(which) ? which : [...flags.keys()].slice(0, which === "all" ? c : which);
      const whole = values.length === c;
      places.forEach((at, k) => {
        flags[at] = 1;
        if (!whole) row[at] = values[k];
      });
      if (whole) row.set(values);
      probs.push(row);
      kept.push(flags);
    }
    const arrays = { logits: BOT.f32(step.logits), probs, kept, tail: BOT.f32(step.tail) };
    decoded.set(step, arrays);
    return arrays;
  };

  /* ---- views ---- */

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
      if (!trace) return;
      if (view.trace !== trace) {
        Object.assign(view, { trace, seen: trace.steps.length, i: null, finish: trace.finish });
        if (api.trace) api.trace(trace);
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
    } catch (error) {
      // One broken view must not take the page with it, nor show yesterday's numbers.
      console.error(error);
      view.failed = true;
      view.body.replaceChildren(BOT.say(BOT.el("p", { class: "bot-note bot-note-bad" }), "ui.view_failed"));
    }
  }

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
    view.api = def.mount(body, ctx);
    views.push(view);
    if (lazy && observer) observer.observe(element);
  }

  const bars = [];
  const panels = [];
  /** A view without a frame, in the order of registering: {mount(body, ctx), class, tag, lazy};
   *  neighbours with the same `group` share one box of that class. */
  BOT.bar = (def) => bars.push(def);
  /** A framed panel of a stage: {id, stage, mount(body, ctx) -> {trace, append, end, step, lang}}. */
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
        BOT.el("span", { class: "bot-numeral", "aria-hidden": "true" }, def.stage),
        BOT.say(BOT.el("h2", { class: "bot-title", id: `bot-title-${def.id}` }), `panel.${def.id}.title`),
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
    for (const def of [...panels].sort((a, b) => a.stage - b.stage)) {
      const { element: section, body } = framed(def);
      grid.append(section);
      show(def, section, body, true);
    }
    BOT.emit("mount", root);
    BOT.schedule();
  };

  /* ---- moving ---- */

  /** Show another trace, at step i (its last one where not said). */
  BOT.setTrace = (trace, i) => {
    state.trace = trace;
    state.progress = null;
    state.i = -1;
    BOT.emit("trace", trace);
    BOT.go(i === undefined ? trace.steps.length - 1 : i, "load");
  };

  /** Show step i, -1 … n - 1. `origin` is "user" (stops a replay), "play", "follow" or "load". */
  BOT.go = (i, origin = "user") => {
    const { trace } = state;
    if (!trace || !Number.isFinite(i)) return;
    const last = trace.steps.length - 1;
    state.i = Math.max(-1, Math.min(last, Math.round(i)));
    if (origin !== "follow") state.follow = state.i === last;
    BOT.emit("go", origin);
    BOT.schedule();
  };
})();

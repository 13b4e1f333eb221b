/* The ground of the page's client: nodes, texts, events and the state. views.js shows it.
 *
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
    if (node.textContent === text) return;
    const { firstChild: only } = node;
    // A node in place of a node is more to the browser than other characters in the same one.
    if (text && only && only === node.lastChild && only.nodeType === Node.TEXT_NODE) only.data = text;
    else node.textContent = text;
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

  const BORN = { start: null, end: null, special: false, source: "generated" };
  /** A step as the views read it: what every generated token has in common is not sent. */
  BOT.whole = (step) => Object.assign(step, { tok: { ...BORN, ...step.tok } });

  const utf8 = new TextEncoder();
  const spelled = new WeakMap();
  /** The bytes of a step's candidates as hex, made once: the payload has text where it is text. */
  BOT.hexes = (step) => {
    if (!spelled.has(step)) {
      spelled.set(step, step.pieces.map((piece) => (typeof piece === "string"
        ? Array.from(utf8.encode(piece), (byte) => byte.toString(16).padStart(2, "0")).join("") : piece[0])));
    }
    return spelled.get(step);
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

  /* ---- moving ---- */

  /** Show another trace, at step i (its last one where not said). */
  BOT.setTrace = (trace, i) => {
    trace.steps.forEach(BOT.whole);
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

/* The form around the client: header, settings that this browser remembers, the way of a run from
 * the button to its end. Works on Gradio's components by their element ids and nothing else. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, state } = BOT;
  const STORE = "birth-of-a-token";
  const SOON_MS = 1000;
  const AWAY_MS = 5000;
  const PATIENT_TRIES = 30;
  const form = (BOT.form = {});

  /* ---- what this browser remembers ---- */

  function recall() {
    try {
      const kept = JSON.parse(localStorage.getItem(STORE));
      return kept && typeof kept === "object" ? kept : {};
    } catch {
      return {};
    }
  }

  function remember(change) {
    try {
      localStorage.setItem(STORE, JSON.stringify({ ...recall(), ...change }));
    } catch {
      // A browser that forbids storage forgets; nothing else depends on it.
    }
  }

  const address = new URLSearchParams(location.search);
  const { lang } = recall();
  if (!address.has("lang") && Object.hasOwn(window.BOT_TEXT || {}, lang || "")) state.lang = lang;
  document.documentElement.lang = state.lang === "zh" ? "zh-CN" : state.lang;

  /* ---- light and dark: Gradio follows the system; a choice made here stays ---- */

  const isDark = () => document.body.classList.contains("dark");

  function keepTheme() {
    const { theme } = recall();
    if (theme && !address.has("__theme")) document.body.classList.toggle("dark", theme === "dark");
    BOT.emit("theme", isDark() ? "dark" : "light");
  }

  /* ---- header and line ---- */

  const LANGUAGES = [["en", "English"], ["zh", "中文"]];

  function languages(changed) {
    const box = BOT.say(el("div", { class: "bot-langs", role: "group" }), "ui.head.language", "aria-label");
    const buttons = LANGUAGES.map(([code, name]) =>
      el("button", { class: "bot-lang", type: "button", lang: code === "zh" ? "zh-CN" : code, on: {
        click: () => {
          remember({ lang: code });
          BOT.setLang(code);
        },
      } }, name));
    const mark = () => buttons.forEach((button, k) =>
      BOT.setAttr(button, "aria-pressed", LANGUAGES[k][0] === state.lang));
    mark();
    BOT.on("lang", () => {
      document.documentElement.lang = state.lang === "zh" ? "zh-CN" : state.lang;
      mark();
      changed();
    });
    box.append(...buttons);
    return box;
  }

  function themes() {
    const words = el("span");
    const button = BOT.say(el("button", { class: "bot-theme", type: "button", on: {
      click: () => {
        remember({ theme: isDark() ? "light" : "dark" });
        keepTheme();
      },
    } }, el("span", { class: "bot-theme-icon", "aria-hidden": "true" }), words),
    "ui.head.theme", "aria-label");
    const show = () => BOT.setText(words, BOT.t(isDark() ? "ui.head.light" : "ui.head.dark"));
    BOT.on("theme", show);
    BOT.on("lang", show);
    keepTheme();
    show();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", keepTheme);
    return button;
  }

  /** Title, language, light and dark. changed(): the labels of Gradio's components must follow. */
  form.header = (element, changed) => {
    const english = BOT_TEXT.en["ui.head.title"];
    const chinese = BOT_TEXT.zh["ui.head.title"];
    element.append(el("header", { class: "bot-head" },
      el("div", { class: "bot-head-words" },
        el("h1", { class: "bot-head-title" },
          el("span", { lang: "en" }, english), el("span", { class: "bot-head-dot", "aria-hidden": "true" }, " · "),
          el("span", { lang: "zh-CN" }, chinese)),
        BOT.say(el("p", { class: "bot-head-tagline" }), "ui.head.tagline")),
      el("div", { class: "bot-head-tools" }, languages(changed), themes())));
  };

  let place = null;
  let line = null;

  function tell() {
    if (line) BOT.setText(line, place ? BOT.t("ui.ask.queue", place) : "");
    if (line) line.hidden = !place;
  }

  form.line = (element) => {
    line = el("p", { class: "bot-line", role: "status" });
    element.append(line);
    BOT.on("lang", tell);
    tell();
  };

  /* ---- Gradio's components: labels, settings ---- */

  const update = (props) => ({ __type__: "update", ...props });
  const labels = () => window.BOT_FORM.labels.map((props) => ({ ...props[state.lang] }));
  const many = (updates) => (updates.length === 1 ? updates[0] : updates);

  /** The updates that put every label in the page's language. */
  form.labels = () => many(labels().map(update));

  /** The same, with the settings that this browser remembers. */
  form.restore = () => {
    const settings = recall().settings || {};
    const updates = labels();
    for (const [name, index] of Object.entries(window.BOT_FORM.kept)) {
      if (Object.hasOwn(settings, name)) updates[index].value = settings[name];
    }
    setTimeout(() => form.shown(settings.sampling === "sample"));
    return many(updates.map(update));
  };

  /** The settings of sampling are seen only where they count. */
  form.shown = (sampled) => document.body.classList.toggle("bot-sampling", sampled);

  /** Greedy is temperature 0. Sampling that nobody has set up begins with usual settings. */
  form.sampling = (how, temperature, topK, topP) => {
    form.shown(how === "sample");
    if (how !== "sample") return [0, topK, topP];
    return topK === 0 && topP === 1 ? [0.7, 20, 0.9] : [temperature || 0.7, topK, topP];
  };

  /* ---- a run ---- */

  const element = (id) => document.getElementById(id);

  let beat = 0;

  function running(now) {
    form.running = now;
    clearInterval(beat);
    beat = now ? setInterval(() => watchModel(), AWAY_MS) : 0;
    document.body.classList.toggle("bot-running", now);
    const stop = element("bot-stop");
    // Gradio sets `disabled` itself when a label changes; this it leaves alone.
    if (stop) stop.setAttribute("aria-disabled", String(!now));
    const run = element("bot-run");
    if (run) run.setAttribute("aria-disabled", String(now));
  }

  /** Before a run is asked for: the values go through as they are, and are remembered. */
  form.ask = (...values) => {
    const names = window.BOT_FORM.asked;
    const settings = Object.fromEntries(names.map((name, k) => [name, values[k]]));
    remember({ settings: { ...settings, sampling: settings.temperature > 0 ? "sample" : "greedy" } });
    form.run = null;
    return many(values);
  };

  /** One message from the bus. The place in the queue is the form's to show. */
  form.receive = (text) => {
    if (!text) return;
    const message = JSON.parse(text);
    place = message.type === "queue" ? { place: message.place, waiting: message.waiting } : null;
    tell();
    if (message.type === "queue" || message.type === "start") running(true);
    if (message.type === "queue") return;
    if (message.type === "start") form.run = message.run;
    if (message.type === "end" || message.type === "error") {
      running(false);
      watchModel();
    }
    BOT.receive(message);
    if (message.type === "start") bringAnswer();
  };

  /** With the settings open, the answer would be written below the screen. */
  function bringAnswer() {
    const hero = document.querySelector(".bot-hero");
    if (!hero || hero.getBoundingClientRect().top < innerHeight * 0.6) return;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    document.querySelector(".bot-deck").scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
  }

  /** After Stop: the run's stream is closed, so its end is asked for. */
  form.stop = async () => {
    const { run } = form;
    place = null;
    tell();
    running(false);
    if (!run || !state.running) return;
    try {
      const { trace } = await BOT.ask("stopped", run);
      BOT.receive({ type: "end", run, trace, trace_id: trace.id });
    } catch (error) {
      // Another run has begun meanwhile: its state is not this one's to touch.
      if (state.run !== run) return;
      Object.assign(state, { running: false, progress: null });
      BOT.emit("progress", null);
      BOT.schedule();
      // Stopped before its first step there is no trace to end with, and nothing amiss.
      if (error.text && state.trace.steps.length) BOT.receive({ type: "error", text: error.text });
    }
  };

  /** The trace on the page, as a file. */
  form.download = () => {
    const { trace } = state;
    if (!trace || !trace.id) return;
    const link = el("a", { href: `bot/trace/${encodeURIComponent(trace.id)}`, download: `${trace.id}.trace.json` });
    document.body.append(link);
    link.click();
    link.remove();
  };

  addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
    const box = element("bot-ask");
    if (!box || !box.contains(event.target)) return;
    event.preventDefault();
    element("bot-run").click();
  });

  /* ---- the model's state: asked for while it changes, and when the reader comes back ---- */

  let asking = false;
  let tries = 0;
  let timer = 0;

  async function watchModel() {
    if (asking || !state.server) return;
    asking = true;
    clearTimeout(timer);
    try {
      const { status } = await BOT.ask("status");
      BOT.receive({ type: "status", status });
      document.body.classList.toggle("bot-thinks", status.thinking);
      const coming = status.state === "loading" || (status.state === "idle" && tries++ < PATIENT_TRIES);
      if (coming) timer = setTimeout(watchModel, SOON_MS);
    } catch (error) {
      if (error.text) return; // the server answered, only not with a status
      // Nothing may look alive that is not: no run, no model; and it is looked for again.
      if (state.running) running((state.running = false));
      BOT.receive({ type: "status", status: { ...state.status, state: "away" } });
      timer = setTimeout(watchModel, AWAY_MS);
    } finally {
      asking = false;
    }
  }

  form.switching = (name) => {
    setTimeout(watchModel, SOON_MS / 4);
    return name;
  };

  /** Mount the client and begin to watch. */
  form.mount = (root, server) => {
    BOT.mount(root, server);
    running(false);
    watchModel();
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) watchModel();
    });
  };
})();

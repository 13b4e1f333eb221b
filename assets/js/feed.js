/* What comes from the server: one message at a time, each step once.
 *
 * A message may be lost on the way (the page's framework keeps only the newest value when two
 * arrive together). Steps are numbered, so a hole is seen, asked for and filled before anything
 * after it is shown; if that fails the page says so.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { state } = BOT;
  const TRIES = 5;

  const past = new Set(); // runs that another run or trace has replaced
  let early = new Map(); // steps that came before one that is missing, by number
  let asking = false;

  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  /** Call a server function; throws Error with `text` {en, zh} where the server said no. */
  BOT.ask = async (name, ...args) => {
    const fn = state.server && state.server[name];
    if (!fn) throw Object.assign(new Error(`no server function ${name}`), { text: null });
    const answer = await fn(...args);
    if (!answer || answer.error) {
      throw Object.assign(new Error(`server.${name} failed`), { text: (answer || {}).error || null });
    }
    return answer;
  };

  function leave() {
    if (state.run !== null) past.add(state.run);
    Object.assign(state, { run: null, running: false });
    early = new Map();
    BOT.emit("leave");
  }

  function take(step) {
    const { steps } = state.trace;
    BOT.whole(step);
    if (step.i === steps.length) steps.push(step);
    else if (step.i > steps.length) early.set(step.i, step);
    for (let next; (next = early.get(steps.length)); ) {
      early.delete(steps.length);
      steps.push(next);
    }
  }

  const missing = () =>
    early.size > 0 || (!state.running && state.trace.n_steps > state.trace.steps.length);

  /** The steps from the first missing one on; from the stored trace once the run is over. */
  async function lost(run) {
    const from = state.trace.steps.length;
    try {
      return (await BOT.ask("steps", run, from)).steps;
    } catch (error) {
      if (state.running || !state.trace.id) throw error;
      return (await BOT.ask("payload", state.trace.id)).trace.steps.slice(from);
    }
  }

  async function fillHoles() {
    if (asking) return;
    asking = true;
    const { run } = state;
    try {
      for (let tries = 0; state.run === run && missing(); tries++) {
        if (tries === TRIES) throw new Error("steps stay missing");
        if (tries) await wait(150 * 2 ** tries);
        let steps = [];
        try {
          steps = await lost(run);
        } catch (error) {
          if (tries === TRIES - 1) throw error;
        }
        if (state.run !== run) break;
        steps.forEach(take);
        shown();
      }
    } catch (error) {
      console.error(error);
      BOT.banner("bad", () => BOT.t("ui.steps_lost"));
    } finally {
      asking = false;
      if (state.run !== run && state.run !== null && missing()) fillHoles();
    }
  }

  function shown() {
    BOT.emit("append");
    if (state.follow && !state.playing) BOT.go(state.trace.steps.length - 1, "follow");
    else BOT.schedule();
  }

  async function loadWhole(id) {
    try {
      const { trace } = await BOT.ask("payload", id);
      leave();
      BOT.setTrace(trace);
    } catch (error) {
      console.error(error);
      BOT.banner("bad", () => BOT.pick(error.text) || BOT.t("ui.load_failed"));
    }
  }

  const handlers = new Map(Object.entries({
    start({ run, trace }) {
      leave();
      BOT.clearBanners();
      Object.assign(state, { run, running: true });
      BOT.setTrace({ ...trace, steps: trace.steps || [], finish: null });
      state.follow = true;
    },
    progress({ run, done, total }) {
      if (run !== state.run) return;
      state.progress = { done, total };
      BOT.emit("progress", state.progress);
    },
    step({ run, step }) {
      if (run !== state.run || !state.trace) return;
      state.progress = null;
      take(step);
      if (missing()) fillHoles();
      shown();
    },
    end({ run, trace, trace_id: id }) {
      if (run !== state.run) {
        // The beginning of this run was lost: take it whole, unless it has been left on purpose.
        if (!past.has(run) && id) loadWhole(id);
        return;
      }
      const { steps, prompt } = state.trace;
      Object.assign(state.trace, trace, { id, steps, prompt });
      Object.assign(state, { running: false, progress: null });
      if (missing()) fillHoles();
      BOT.emit("end", state.trace);
      BOT.schedule();
    },
    load({ trace, step }) {
      leave();
      BOT.clearBanners();
      BOT.setTrace(trace, step);
    },
    error({ key, text }) {
      state.progress = null;
      BOT.emit("progress", null);
      BOT.banner("bad", () => BOT.pick(text), key);
    },
    status({ status }) {
      state.status = status;
      BOT.emit("status", status);
    },
    lang({ lang }) {
      BOT.setLang(lang);
    },
  }));

  /** Take one message from the server (or several, in order). */
  BOT.receive = (message) => {
    if (Array.isArray(message)) return message.forEach(BOT.receive);
    const handler = message && handlers.get(message.type);
    if (handler) handler(message);
    else console.error("unknown message", message && message.type);
  };

  /** Show a recorded run by its name. */
  BOT.example = async (name, step) => {
    try {
      const { trace } = await BOT.ask("example", name);
      BOT.receive({ type: "load", trace, step });
      state.example = name;
      BOT.emit("example", { name, asked: true });
    } catch (error) {
      console.error(error);
      BOT.banner("bad", () => BOT.pick(error.text) || BOT.t("ui.load_failed"));
    }
  };
})();

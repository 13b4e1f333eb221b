/* The inside of the run on screen: fetched once, then every step of it is at hand.
 *
 * A panel of this kind stands behind a gate: until the numbers are there, the gate says how far
 * they are, what went wrong, or what to press.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { state } = BOT;
  const KEEP = 3; // runs whose inside is remembered
  const DETAILS = 96; // heads and layers remembered of one run
  const SETTING = "bot.inside.auto";

  const known = new Map(); // trace id -> data
  /** phase: none (can be asked for), later (the run goes on), running, ready, failed. */
  const now = { phase: "none", id: null, data: null, told: null, error: null, job: null };
  const focus = { layer: 0, head: 0, query: null };
  let version = 0; // of the focus

  const changed = () => {
    BOT.emit("inside", now);
    BOT.schedule();
  };

  let auto = true;
  try {
    auto = localStorage.getItem(SETTING) !== "no";
  } catch { /* storage may be forbidden; the setting then lasts as long as the page */ }

  BOT.inside = {
    now, focus,
    get auto() { return auto; },
    set auto(value) {
      auto = value;
      try {
        localStorage.setItem(SETTING, value ? "yes" : "no");
      } catch { /* as above */ }
      changed();
    },
    get focusVersion() { return version; },
    start, want,
    stop() {
      if (now.job) now.job.cancel();
      Object.assign(now, { job: null, phase: now.phase === "running" ? "none" : now.phase });
      now.declined = true;
      changed();
    },
    setFocus(change) {
      if (Object.entries(change).every(([name, value]) => focus[name] === value)) return;
      Object.assign(focus, change);
      version += 1;
      BOT.schedule();
    },
    /** Why `part` can not be seen in this model, as a sentence, or null. */
    missing(data, part) {
      const found = data.missing.find((m) => m.part === part) || data.missing.find((m) => m.part === "writes");
      return found ? BOT.t(found.reason, found.values) : null;
    },
    /** The token at a position: {where, index, id, hex, special}; a run's last token has none. */
    token(data, position) {
      const { trace } = state;
      const where = position < data.n_prompt ? "prompt" : "answer";
      const index = where === "prompt" ? position : position - data.n_prompt;
      const token = where === "prompt" ? trace.prompt[index] : trace.steps[index].tok;
      return { where, index, id: token.id, hex: token.hex, special: token.special };
    },
  };

  /** Ask by itself, where the reader has not said otherwise; called by what is on screen. */
  function want() {
    if (now.phase === "none" && auto && !now.declined) start();
  }

  function start() {
    const { trace } = state;
    if (!trace || !trace.id || trace.finish === null || now.phase === "running") return;
    const id = trace.id;
    Object.assign(now, { phase: "running", told: null, error: null, declined: false });
    now.job = BOT.work({ op: "inside", trace: id }, (told) => {
      if (now.id !== id) return;
      now.told = told;
      changed();
    });
    now.job.promise.then((found) => {
      if (now.id === id) arrive(id, complete(found, id));
    }, (error) => {
      if (now.id !== id || error instanceof BOT.Halted) return;
      Object.assign(now, { phase: "failed", error, job: null });
      changed();
    });
    changed();
  }

  function arrive(id, data) {
    known.delete(id);
    known.set(id, data);
    while (known.size > KEEP) known.delete(known.keys().next().value);
    Object.assign(now, { phase: "ready", data, job: null });
    aim(data);
    changed();
  }

  /** The data with what can be asked about it; answers are remembered. */
  function complete(data, id) {
    const asked = new Map();
    data.work = (op, fields, onState) => BOT.work({ op, trace: id, ...fields }, onState);
    const once = (op, fields) => {
      const key = JSON.stringify([op, fields]);
      if (!asked.has(key)) {
        const { promise } = data.work(op, fields);
        promise.catch(() => asked.delete(key));
        asked.set(key, promise);
        while (asked.size > DETAILS) asked.delete(asked.keys().next().value);
      }
      return asked.get(key);
    };
    data.head = (layer, head) => once("head", { layer, head });
    data.ffn = (layer) => once("ffn", { layer });
    data.neuron = (layer, neuron) => once("neuron", { layer, id: neuron });
    return data;
  }

  /** A layer and a head that show something: those at hand, reading least from position 0. */
  function aim(data) {
    const { n_layers: L, n_heads: H } = data.model;
    const fits = focus.layer < L && focus.head < H && (!data.recorded || data.layers.includes(focus.layer));
    if (fits && version > 0) return BOT.inside.setFocus({ query: null });
    let best = { layer: data.layers[0] || 0, head: 0, sink: Infinity };
    if (data.heads) {
      for (const layer of data.layers) {
        for (let head = 0; head < H; head++) {
          const sink = data.heads.sink.at(layer, head, 0);
          if (sink < best.sink) best = { layer, head, sink };
        }
      }
    }
    BOT.inside.setFocus({ layer: best.layer, head: best.head, query: null });
  }

  /** Which run is on screen decides what is shown; called at each change of trace or of its end. */
  function follow() {
    const { trace } = state;
    const id = trace && trace.finish !== null ? trace.id : null;
    if (now.id === id && id !== null) return;
    if (now.job) now.job.cancel();
    const data = id && known.get(id);
    Object.assign(now, { id, data: data || null, told: null, error: null, job: null, declined: false,
      phase: data ? "ready" : id ? "none" : "later" });
    if (data) aim(data);
    changed();
  }
  /** With its model at hand a recorded run has all its layers: what is known of it is renewed. */
  async function renew() {
    const { data, id } = now;
    if (!data || !data.recorded || data.layers.length === data.model.n_layers) return;
    try {
      const more = await BOT.work({ op: "inside", trace: id }).promise;
      if (now.id === id && more.layers.length > data.layers.length) {
        data.layers = more.layers;
        version += 1;
        BOT.emit("layers", data);
        BOT.schedule();
      }
    } catch { /* what was recorded is still there */ }
  }
  BOT.on("status", (status) => {
    if (status.state === "ready") renew();
  });
  BOT.on("trace", follow);
  BOT.on("frame", () => {
    const { trace } = state;
    if (trace && now.id === null && trace.finish !== null && trace.id) follow();
  });
})();

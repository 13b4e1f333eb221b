/* The tokenizer laboratory's ground: one text, one vocabulary, and what the server says of them.
 *
 * Until the reader types, the text is the question of the run on screen. What was asked once is
 * remembered; what nobody waits for any more is given up.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { state } = BOT;
  const SETTING = "bot.lab";
  const ANSWERS = 48; // remembered
  const MOST_KEPT = 20000; // characters of the text that are remembered from visit to visit
  const MOST_MODELS = 8;

  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem(SETTING)) || {};
  } catch { /* nothing is remembered, or nothing may be */ }
  const given = (value, kind) => (typeof value === kind ? value : null);
  const strings = (value) => (Array.isArray(value) ? value.filter((v) => typeof v === "string") : []);

  let typed = given(kept.text, "string"); // null: follow the run
  let model = given(kept.model, "string"); // as chosen; null: the server's choice
  let models = strings(kept.models);
  let names = null; // {tokenizers, tiktoken, default, start}
  let loading = null;
  let version = 0;

  const keep = () => {
    const text = typed !== null && typed.length > MOST_KEPT ? null : typed;
    try {
      localStorage.setItem(SETTING, JSON.stringify({ text, model, models }));
    } catch { /* as above */ }
  };

  /** The last question of a trace, or the text it goes on with. */
  function question(trace) {
    if (!trace) return "";
    if (trace.raw_prompt !== null) return trace.raw_prompt;
    const asked = (trace.messages || []).filter((m) => m.role === "user");
    return asked.length ? asked[asked.length - 1].content : "";
  }

  const known = (name) => Boolean(names) && names.tokenizers.some((t) => t.name === name);
  const comparable = (name) => known(name) || Boolean(names) && names.tiktoken.some((n) => `tiktoken:${n}` === name);

  function changed() {
    version += 1;
    giveUp();
    BOT.emit("lab", BOT.lab);
    BOT.schedule();
  }

  /* ---- what is asked ---- */

  const asked = new Map(); // key -> {promise, cancel, told, done, usual}
  const NEEDS = { cut: ["model", "text"], ledger: ["model", "text"], ways: ["model", "text"], story: ["model"],
    compare: ["models", "text"], languages: ["models"], templates: ["model"] };

  /** What `op` is asked with where `fields` do not say otherwise. */
  function whole(op, fields) {
    const usual = {};
    for (const name of NEEDS[op] || []) usual[name] = BOT.lab[name];
    return { ...usual, ...fields };
  }

  function entry(op, fields) {
    const all = whole(op, fields);
    const key = JSON.stringify([op, all]);
    let found = asked.get(key);
    asked.delete(key); // and set again: the oldest goes first
    if (!found) {
      const job = BOT.work({ op, ...all }, (told) => {
        found.told = told;
        BOT.schedule();
      });
      // Asked for the text at hand: of no use when that is another one.
      const usual = "text" in all && !("text" in (fields || {}));
      found = { ...job, told: null, done: false, usual };
      job.promise.then(() => {
        found.done = true;
        BOT.schedule();
        sizes([all.model, ...(all.models || [])]);
      }, () => {
        if (asked.get(key) === found) asked.delete(key);
        BOT.schedule();
      });
    }
    asked.set(key, found);
    for (const [old, one] of asked) {
      if (asked.size <= ANSWERS) break;
      if (one.done) asked.delete(old);
    }
    return found;
  }

  function giveUp() {
    for (const [key, one] of [...asked]) {
      if (one.done || !one.usual) continue;
      one.cancel();
      asked.delete(key);
    }
  }

  /** How far an answer is: null before the server said so, or where it is there. */
  function told(op, fields) {
    const found = asked.get(JSON.stringify([op, whole(op, fields)]));
    return found && !found.done ? found.told : null;
  }

  /* ---- the names of vocabularies ---- */

  function load() {
    if (!loading) {
      loading = BOT.work({ op: "lab" }).promise.then((found) => {
        names = found;
        changed();
        return found;
      }, (error) => {
        loading = null; // so that it can be tried again
        throw error;
      });
    }
    return loading;
  }

  /** A vocabulary's size is known once it was read. */
  function sizes(used) {
    const fresh = names ? names.tokenizers.filter((t) => t.size === null && used.includes(t.name)) : [];
    if (!fresh.length) return;
    for (const row of fresh) row.size = 0; // asked once
    BOT.work({ op: "lab" }).promise.then((found) => {
      names.tokenizers = found.tokenizers;
      BOT.emit("lab.names", names);
      BOT.schedule();
    }, () => { /* a size less in a list */ });
  }

  /** text, model, models (for comparison): what is looked at. model is null until `load` is done.
   *  ask(op, fields) -> Promise: model, models and text are added where `op` takes them and fields do
   *  not say them; equal questions share one answer. The text counts in code points, places too.
   *  version: another number after each change, which `BOT.emit("lab")` tells. */
  BOT.lab = {
    get text() { return typed !== null ? typed : question(state.trace); },
    get model() { return known(model) ? model : names && names.default; },
    get models() {
      const chosen = models.filter(comparable);
      return chosen.length || !names ? chosen : names.start;
    },
    get tokenizers() { return names ? names.tokenizers : []; },
    /** Names for `models` beside the tokenizers: "tiktoken:…". */
    get encodings() { return names ? names.tiktoken.map((name) => `tiktoken:${name}`) : []; },
    get ready() { return names !== null; },
    get version() { return version; },
    /** Whether the text is the question of the run on screen. */
    get follows() { return typed === null; },
    most: MOST_MODELS,
    /** null: follow the run on screen again. */
    setText(text) {
      if (text === typed) return;
      typed = text;
      keep();
      changed();
    },
    setModel(name) {
      if (name === model) return;
      model = name;
      keep();
      changed();
    },
    setModels(list) {
      const wanted = [...new Set(list)].slice(0, MOST_MODELS);
      if (!wanted.length || wanted.join("\n") === BOT.lab.models.join("\n")) return;
      models = wanted;
      keep();
      changed();
    },
    ask: (op, fields) => entry(op, fields).promise,
    told, load,
  };

  BOT.on("trace", () => {
    if (typed === null) changed();
  });
})();

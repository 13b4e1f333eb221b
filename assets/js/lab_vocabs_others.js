/* Vocabularies to compare: those that the server lists, and others that the reader names. Each is asked
 * for by itself, so that one that can not be had takes nothing from the rest.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, lab } = BOT;
  const SETTING = "bot.lab.others";
  const LATE_MS = 500; // after that, what is there is shown without waiting for the rest

  let names = [];
  try {
    const kept = JSON.parse(localStorage.getItem(SETTING));
    if (Array.isArray(kept)) names = kept.filter((name) => typeof name === "string");
  } catch { /* nothing is remembered, or nothing may be */ }

  const listed = (name) => lab.tokenizers.some((t) => t.name === name) || lab.encodings.includes(name);

  function set(next) {
    names = next;
    try {
      localStorage.setItem(SETTING, JSON.stringify(names));
    } catch { /* as above */ }
    BOT.emit("lab.others");
  }

  /** names: beside the listed ones. all: everything that is compared. */
  BOT.labOthers = {
    get names() { return names.filter((name) => !listed(name)); },
    get all() { return [...new Set([...lab.models, ...BOT.labOthers.names])].slice(0, lab.most); },
  };

  /** The field for another name, put among the other choices of the panel: {draw()}. body: of a
   *  `labPanel` with a choice of `models`. */
  BOT.labOthersBar = (id, body) => {
    let problem = null; // what says why a name was refused, in both languages
    let waiting = false;
    const field = el("input", { class: "bot-others-field", id: `bot-others-${id}`, type: "text", spellcheck: "false",
      autocapitalize: "off", autocomplete: "off", maxlength: 200, dir: "ltr" });
    const add = BOT.say(el("button", { class: "bot-btn", type: "submit" }), "panel.vocabs.add");
    const says = el("output", { class: "bot-others-says", "aria-live": "polite" });
    const form = el("form", { class: "bot-others-form", on: { submit } },
      BOT.say(el("label", { class: "bot-label", for: field.id }), "panel.vocabs.other"), field, add);
    const chips = el("div", { class: "bot-lab-chips" });
    body.parentElement.querySelector(".bot-lab-models").append(el("div", { class: "bot-others" }, form, chips, says));

    const full = () => BOT.t("panel.vocabs.full", { n: lab.most });

    function submit(event) {
      event.preventDefault();
      const name = field.value.trim();
      if (!name || waiting) return;
      if (BOT.labOthers.all.includes(name)) return over();
      if (BOT.labOthers.all.length >= lab.most) return over(full);
      if (listed(name)) {
        over();
        return lab.setModels([...lab.models, name]);
      }
      waiting = true;
      draw();
      lab.ask("compare", { models: [name], text: "" }).then(() => {
        over();
        set([...names, name]);
      }, (error) => over(() => BOT.pick(error.text) || BOT.t("ui.lab.failed")));
    }

    function over(why = null) {
      waiting = false;
      problem = why;
      if (!why) field.value = "";
      draw();
    }

    function draw() {
      BOT.setAttr(add, "aria-disabled", waiting ? "true" : null);
      BOT.setAttr(field, "aria-invalid", problem ? "true" : null);
      const shown = BOT.labOthers.names;
      const all = BOT.labOthers.all;
      const bad = problem || (shown.some((name) => !all.includes(name)) ? full : null);
      says.hidden = !waiting && !bad;
      says.classList.toggle("is-bad", Boolean(bad) && !waiting);
      BOT.setText(says, waiting ? BOT.t("panel.vocabs.reading") : bad ? bad() : "");
      chips.hidden = shown.length === 0;
      chips.replaceChildren(...shown.map((name) => el("button", { class: "bot-chip", type: "button", "aria-pressed": "true",
        "aria-label": BOT.t("panel.vocabs.remove", { name }), on: { click: () => set(names.filter((n) => n !== name)) } }, el("bdi", null, name), " ×")));
    }
    BOT.on("lab.others", draw);
    return { draw };
  };

  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  /** labEach(op, show(entries)) -> load() -> Promise: ask `op` of every vocabulary to compare. entries:
   *  [{name, answer, error}], both null while it is under way. show comes when all are there, sooner
   *  where one is late. The promise fails where none could be had. */
  BOT.labEach = (op, show) => {
    let turn = 0;
    return () => {
      const mine = ++turn;
      const entries = BOT.labOthers.all.map((name) => ({ name, answer: null, error: null }));
      const update = () => {
        if (mine === turn && entries.some((e) => e.answer)) show(entries);
      };
      const jobs = entries.map((entry) => lab.ask(op, { models: [entry.name] }).then(
        (answer) => { entry.answer = answer; }, (error) => { entry.error = error; }));
      wait(LATE_MS).then(() => {
        if (mine !== turn || entries.every((e) => e.answer || e.error)) return;
        update();
        for (const job of jobs) job.then(update);
      });
      return Promise.all(jobs).then(() => {
        if (mine !== turn) return;
        if (!entries.some((e) => e.answer) && entries.length) throw entries[0].error;
        update();
      });
    };
  };

  /** What could not be had, and what is still awaited, one line each: {node, draw(entries)}. */
  BOT.labMissing = (again) => {
    const list = el("ul", { class: "bot-others-missing", role: "status" });
    return {
      node: list,
      draw(entries) {
        const missing = entries.filter((e) => !e.answer && !(e.error instanceof BOT.Halted));
        list.hidden = missing.length === 0;
        list.replaceChildren(...missing.map(({ name, error }) => el("li", { class: error ? "bot-note bot-note-warn" : "bot-note" },
          el("p", null, el("b", null, el("bdi", null, name)), " · ", error ? BOT.pick(error.text) || BOT.t("ui.lab.failed") : BOT.t("panel.vocabs.reading")),
          error ? el("button", { class: "bot-btn", type: "button", on: { click: again } }, BOT.t("ui.lab.retry")) : null)));
      },
    };
  };
})();

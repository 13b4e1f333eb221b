/* The calculator: tokens of a request against the context of a model, and what many requests cost. No
 * price is built in; whatever is typed is taken exactly and remembered.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, lab } = BOT;
  const { whole, decimal, show, cost, add, count } = BOT.exactly;
  const SETTING = "bot.lab.cost";
  // In the order in which they are asked for and complained of.
  const FIELDS = [["input", whole], ["output", whole], ["requests", whole], ["context", whole], ["price_in", decimal], ["price_out", decimal]];

  const fresh = { source: "text", model: "", input: "", output: "", requests: "1", context: "", price_in: "", price_out: "" };
  let kept = { ...fresh };
  try {
    const found = JSON.parse(localStorage.getItem(SETTING)) || {};
    for (const name of Object.keys(fresh)) if (typeof found[name] === "string") kept[name] = found[name].slice(0, 40);
  } catch { /* nothing is remembered, or nothing may be */ }

  function keep(name, value) {
    kept = { ...kept, [name]: value };
    try {
      localStorage.setItem(SETTING, JSON.stringify(kept));
    } catch { /* as above */ }
  }

  /** languagesCost() -> {node, draw()}. */
  BOT.languagesCost = () => {
    let own = null; // tokens of the reader's text, null while they are counted
    let asked = null; // {version, model} of that count
    let failed = null;
    const text = BOT.labInput("languages-cost", { model: false });
    const boxes = {};

    function field(name, mode) {
      const id = `bot-cost-${name}`;
      const input = el("input", { class: "bot-others-field bot-cost-field", id, type: "text", inputmode: mode, autocomplete: "off", maxlength: 40, value: kept[name], dir: "ltr",
        on: { input: () => {
          keep(name, input.value);
          draw();
        } } });
      boxes[name] = input;
      return el("div", { class: "bot-cost-item" }, BOT.say(el("label", { class: "bot-label", for: id }), `panel.languages.cost.${name}`), input);
    }

    const sources = ["text", "typed"].map((value) => {
      const input = el("input", { type: "radio", name: "bot-cost-source", value, on: { change: () => {
        keep("source", value);
        draw();
      } } });
      return { value, input, node: el("label", { class: "bot-cost-source" }, input, BOT.say(el("span"), `panel.languages.cost.from_${value}`)) };
    });
    const list = BOT.say(el("select", { class: "bot-lab-list", on: { change: () => {
      keep("model", list.value);
      draw();
    } } }), "ui.lab.model", "aria-label");
    const counted = el("b");
    const ofText = el("div", { class: "bot-cost-text" }, text.node, el("div", { class: "bot-cost-count" }, BOT.say(el("span", { class: "bot-label" }), "ui.lab.model"), list, counted));
    const ofHand = field("input", "numeric");
    const screen = el("button", { class: "bot-chip", type: "button", on: { click: () => {
      boxes.context.value = String(BOT.state.trace.model.max_context);
      keep("context", boxes.context.value);
      draw();
    } } });
    const context = field("context", "numeric");
    context.append(screen);
    const problem = el("p", { class: "bot-others-says is-bad", role: "status" });
    const results = el("dl", { class: "bot-cost-results", "aria-live": "polite" });
    const lines = [];
    const node = el("section", { class: "bot-cost" },
      BOT.say(el("h4", { class: "bot-cost-title" }), "panel.languages.cost.title"),
      BOT.say(el("p", { class: "bot-hint" }), "panel.languages.cost.about"),
      el("div", { class: "bot-cost-sources", role: "radiogroup" }, BOT.say(el("span", { class: "bot-label" }), "panel.languages.cost.input"), sources.map((s) => s.node)),
      ofText, el("div", { class: "bot-cost-grid" }, ofHand, field("output", "numeric"), field("requests", "numeric"), context, field("price_in", "decimal"), field("price_out", "decimal")),
      problem, results);

    /** The reader's text, counted in the vocabulary that was chosen. */
    function tally() {
      const all = BOT.labOthers.all;
      while (list.options.length > all.length) list.lastChild.remove();
      all.forEach((name, k) => {
        const option = list.options[k] || list.appendChild(el("option"));
        option.value = name;
        BOT.setText(option, name);
      });
      const model = [kept.model, lab.model].find((name) => all.includes(name)) || all[0];
      list.value = model;
      if (asked && asked.version === lab.version && asked.model === model) return;
      const mine = (asked = { version: lab.version, model });
      own = failed = null;
      lab.ask("compare", { models: [model] }).then((found) => {
        if (asked !== mine) return;
        own = BigInt(found.columns[0].ids.length);
        draw();
      }, (error) => {
        if (asked !== mine) return;
        if (error instanceof BOT.Halted) asked = null;
        else failed = error;
        draw();
      });
    }

    function draw() {
      if (!lab.ready) return;
      const typed = kept.source === "typed";
      for (const { value, input } of sources) input.checked = value === kept.source;
      ofText.hidden = typed;
      ofHand.hidden = !typed;
      text.draw();
      if (!typed) tally();
      BOT.setText(counted, own === null ? "…" : BOT.t("panel.languages.cost.counted", { n: count(own) }));
      const { trace } = BOT.state;
      screen.hidden = !trace || !trace.model.max_context;
      if (!screen.hidden) BOT.setText(screen, BOT.t("panel.languages.cost.screen", { name: trace.model.name, n: BOT.num(trace.model.max_context) }));
      say(typed);
    }

    function say(typed) {
      const read = {};
      let wrong = null;
      for (const [name, parse] of FIELDS) {
        const bad = kept[name].trim() !== "" && parse(kept[name]) === null && (name !== "input" || typed);
        BOT.setAttr(boxes[name], "aria-invalid", bad ? "true" : null);
        read[name] = kept[name].trim() === "" ? null : parse(kept[name]);
        if (bad && !wrong) wrong = BOT.t(parse === whole ? "panel.languages.cost.bad_whole" : "panel.languages.cost.bad_price", { field: BOT.t(`panel.languages.cost.${name}`), value: `\u2068${BOT.visibleText(kept[name])}\u2069` });
      }
      if (!wrong && !typed && failed) wrong = BOT.pick(failed.text) || BOT.t("ui.lab.failed");
      problem.hidden = !wrong;
      BOT.setText(problem, wrong || "");
      const input = typed ? read.input : own;
      fill(wrong || input === null ? [] : sums({ ...read, input, output: read.output ?? 0n, requests: read.requests ?? 1n }));
    }

    /** [[name, text, a second line or null], …] */
    function sums({ input, output, requests, context: room, price_in: priceIn, price_out: priceOut }) {
      const each = input + output;
      const found = [["per_request", BOT.t("panel.languages.cost.sum", { a: count(input), b: count(output), n: count(each) }), null]];
      if (room !== null) {
        const share = room ? BOT.prob(Number(each) / Number(room)) : "–";
        found.push(["fits", each <= room ? BOT.t("panel.languages.cost.fits_yes", { n: count(each), room: count(room), share, left: count(room - each) })
          : BOT.t("panel.languages.cost.fits_no", { n: count(each), room: count(room), over: count(each - room) }), null]);
      }
      found.push(["all", BOT.t("panel.languages.cost.sum", { a: count(input * requests), b: count(output * requests), n: count(each * requests) }), null]);
      const parts = [["cost_in", input, priceIn], ["cost_out", output, priceOut]].filter(([, , price]) => price !== null);
      let total = null;
      for (const [name, n, price] of parts) {
        const sum = cost(n * requests, price);
        total = total ? add(total, sum) : sum;
        found.push([name, show(sum), BOT.t("panel.languages.cost.how", { n: count(n), requests: count(requests), price: show(price) })]);
      }
      if (parts.length === 2) found.push(["total", show(total), null]);
      if (!parts.length) found.push(["price", BOT.t("panel.languages.cost.no_price"), null]);
      return found;
    }

    function fill(found) {
      results.hidden = found.length === 0;
      while (lines.length < found.length) {
        const line = { name: el("dt"), value: el("b"), more: el("span", { class: "bot-muted" }) };
        line.box = el("dd", null, line.value, " ", line.more);
        lines.push(line);
        results.append(line.name, line.box);
      }
      lines.forEach(({ name, box, value, more }, k) => {
        name.hidden = box.hidden = k >= found.length;
        if (name.hidden) return;
        BOT.setText(name, BOT.t(`panel.languages.cost.${found[k][0]}`));
        BOT.setText(value, found[k][1]);
        BOT.setText(more, found[k][2] || "");
      });
    }

    return { node, draw };
  };
})();

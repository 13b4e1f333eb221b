/* What languages cost: one sentence in many languages, in tokens of each vocabulary; and a calculator. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const KINDS = ["tokens", "relative", "per_character", "bytes"];
  const RIGHT_TO_LEFT = new Set(["ar", "he", "fa", "ur"]);
  const BASE = "en";

  BOT.labPanel({
    id: "languages", stage: 2, deck: "pieces", input: { text: false, model: false, models: true },
    mount(body, ctx) {
      let kind = "tokens";
      let by = 0; // the vocabulary to sort by
      let entries = [];
      let found = null; // {models, rows: [{code, text, n_characters, n_bytes, counts}], source}
      let order = []; // rows as shown
      let chosen = null; // code; null: the dearest

      const load = BOT.labEach("languages", show);
      const again = () => ctx.follow(load()).catch(() => { /* told above */ });
      const others = BOT.labOthersBar("languages", body);
      const missing = BOT.labMissing(again);
      const tabs = KINDS.map((name) => BOT.say(el("button", { type: "button", "aria-pressed": String(name === kind), on: { click: () => choose(name) } }), `panel.languages.kind.${name}`));
      const about = el("p", { class: "bot-hint" });
      const legend = el("ul", { class: "bot-lang-legend" });
      const sort = el("select", { class: "bot-lab-list", id: "bot-lang-sort", on: { change: () => {
        by = Number(sort.value);
        draw();
      } } });
      const sorting = el("div", { class: "bot-lang-sort" }, BOT.say(el("label", { class: "bot-label", for: sort.id }), "panel.languages.sort"), sort);
      const chart = BOT.languagesChart({ pick: (k) => look(order[k].code) });
      const name = el("h4", { class: "bot-lang-title" });
      const sentence = el("p", { class: "bot-lang-sentence" });
      const facts = el("ul", { class: "bot-lang-facts" });
      const use = BOT.say(el("button", { class: "bot-btn", type: "button", on: { click: open } }), "panel.languages.use");
      const source = el("p", { class: "bot-hint" });
      const card = el("section", { class: "bot-lang-card", "aria-live": "polite" }, name, sentence, facts, use, source);
      const column = (key, number = true) => ({ key: `panel.languages.col.${key}`, class: number ? "bot-n" : null });
      const fold = BOT.fold({
        label: "panel.languages.table", rows: table,
        columns: [column("language", false), column("characters"), column("size"), column("vocabulary", false), column("tokens"), column("relative"), column("per_character"), column("bytes")],
      });
      const sentences = el("dl", { class: "bot-lang-all" });
      const all = el("details", { class: "bot-fold" }, BOT.say(el("summary"), "panel.languages.sentences"), sentences);
      const cost = BOT.languagesCost();
      const content = el("div", { class: "bot-lang", hidden: true },
        el("div", { class: "bot-tabs bot-lang-kinds", role: "group" }, BOT.say(el("span", { class: "bot-label" }), "panel.languages.kind"), tabs), about,
        el("div", { class: "bot-lang-head" }, legend, sorting),
        el("div", { class: "bot-lang-main" }, chart.node, card), fold.node, all);
      body.append(missing.node, content, cost.node);

      /* ---- numbers ---- */

      const base = () => found.rows.find((row) => row.code === BASE);
      const over = (a, b) => (b ? a / b : null);
      const values = {
        tokens: (row, c) => row.counts[c],
        relative: (row, c) => (base() ? over(row.counts[c], base().counts[c]) : null),
        per_character: (row, c) => over(row.counts[c], row.n_characters),
        bytes: (row, c) => over(row.n_bytes, row.counts[c]),
      };
      const format = (which) => (v) => (v === null ? "–" : which === "tokens" ? BOT.num(v) : which === "relative" ? `${BOT.sig(v)}×` : BOT.sig(v));
      const langName = (code) => {
        const key = `panel.languages.lang.${code}`;
        return Object.hasOwn(window.BOT_TEXT[BOT.state.lang], key) ? BOT.t(key) : code;
      };

      /** The dearest first: most tokens, or fewest bytes in each. */
      function sorted() {
        const dear = (row) => (values[kind](row, by) ?? 0) * (kind === "bytes" ? -1 : 1);
        return [...found.rows].sort((a, b) => dear(b) - dear(a));
      }

      function table() {
        if (!found) return [];
        const ratio = (v) => (v === null ? "–" : { text: BOT.sig(v), title: BOT.exact(v) });
        return order.flatMap((row) => found.models.map((model, c) => [langName(row.code), BOT.num(row.n_characters), BOT.num(row.n_bytes),
          model, BOT.num(row.counts[c]), ...KINDS.slice(1).map((which) => ratio(values[which](row, c)))]));
      }

      /* ---- drawing ---- */

      function choose(next) {
        kind = next;
        tabs.forEach((tab, k) => BOT.setAttr(tab, "aria-pressed", KINDS[k] === kind));
        draw();
      }

      function look(code) {
        chosen = code;
        const k = order.findIndex((row) => row.code === code);
        chart.mark(k);
        const row = order[k];
        BOT.setText(name, langName(code));
        Object.assign(sentence, { lang: code, dir: RIGHT_TO_LEFT.has(code) ? "rtl" : "ltr" });
        BOT.setText(sentence, row.text);
        facts.replaceChildren(
          el("li", null, BOT.t("panel.languages.sizes", { characters: BOT.num(row.n_characters), bytes: BOT.num(row.n_bytes) })),
          ...found.models.map((model, c) => el("li", null, found.models.length > 1 ? el("b", null, `${BOT.letters[c]} `) : null, el("bdi", null, model), ": ",
            BOT.t("panel.languages.fact", { n: BOT.num(row.counts[c]), times: format("relative")(values.relative(row, c)), per: BOT.sig(values.per_character(row, c)), bytes: BOT.sig(values.bytes(row, c)) }))));
      }

      function open() {
        ctx.lab.setText(found.rows.find((row) => row.code === chosen).text);
        BOT.visit("vocabs");
      }

      function draw() {
        if (!found) return;
        const { models } = found;
        by = Math.min(by, models.length - 1);
        order = sorted();
        BOT.setText(about, BOT.t(`panel.languages.about.${kind}`));
        legend.hidden = sorting.hidden = models.length < 2;
        legend.replaceChildren(...models.map((model, c) => el("li", null, el("i", { class: `bot-lang-key of-${c}`, "aria-hidden": "true" }, BOT.letters[c]), el("bdi", null, model))));
        sort.replaceChildren(...models.map((model, c) => el("option", { value: c }, `${BOT.letters[c]} · ${model}`)));
        sort.value = String(by);
        const say = format(kind);
        chart.set({
          vocabularies: models.length, format: say,
          line: kind === "relative" ? { at: 1 } : null,
          rows: order.map((row) => ({ name: langName(row.code), values: models.map((_, c) => values[kind](row, c)),
            says: `${langName(row.code)}: ${models.map((model, c) => `${model} ${say(values[kind](row, c))}`).join(", ")}` })),
        });
        look(order.some((row) => row.code === chosen) ? chosen : order[0].code);
        sentences.replaceChildren(...found.rows.flatMap((row) => [el("dt", null, langName(row.code)), el("dd", { lang: row.code, dir: RIGHT_TO_LEFT.has(row.code) ? "rtl" : "ltr" }, row.text)]));
        BOT.setText(source, BOT.t("panel.languages.source", { source: found.source }));
        fold.draw();
      }

      function show(list) {
        entries = list;
        missing.draw(entries);
        const there = entries.filter((e) => e.answer);
        const [first] = there;
        found = {
          models: there.map((e) => e.name), source: first.answer.source,
          rows: first.answer.rows.map((row, k) => ({ ...row, counts: there.map((e) => e.answer.rows[k].counts[0]) })),
        };
        content.hidden = false;
        draw();
      }

      ctx.on("lab.others", () => {
        if (!found && !entries.length) return;
        again();
        cost.draw();
      });

      return {
        draw() {
          others.draw();
          cost.draw();
          return load();
        },
        lang() {
          others.draw();
          missing.draw(entries);
          cost.draw();
          draw();
        },
      };
    },
  });
})();

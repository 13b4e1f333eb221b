/* Letters are hard: how many of one letter are in a word, asked of a model that was given no letters. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const MOST_IDS = 12; // of the word, named in the sentence
  const BEST = 4; // likeliest tokens named beside the digits
  const WORD = "strawberry";
  const LETTER = "r";
  const PREFIX = "The answer is ";

  BOT.panel({
    id: "letters", stage: 2, deck: "pieces",
    mount(body) {
      let found = null;
      let began = false;
      let asked = { word: WORD, letter: LETTER }; // of what is shown

      /* ---- what is asked ---- */

      const field = (name, value, size) => {
        const input = el("input", { class: "bot-letters-field", id: `bot-letters-${name}`, type: "text", value, size, maxlength: 200, autocapitalize: "off", autocomplete: "off", spellcheck: "false", dir: "auto", on: { input: preview, keydown: enter } });
        return { input, node: el("div", { class: "bot-letters-box" }, BOT.say(el("label", { class: "bot-label", for: input.id }), `panel.letters.${name}`), input) };
      };
      const [letter, word, prefix] = [field("letter", LETTER, 3), field("word", WORD, 16), field("prefix", PREFIX, 20)];
      const asking = BOT.asking({ go: "panel.letters.go", ask: request, apply: show });
      const shape = el("p", { class: "bot-hint" });
      body.append(el("div", { class: "bot-letters-ask" },
        el("div", { class: "bot-letters-row" }, letter.node, word.node, prefix.node, asking.node), shape));

      const clean = (value) => value.replace(/\s+/g, " ").trim();
      const question = (text, of) => BOT.t("panel.letters.ask", { letter: of, word: text });
      const spelled = (text) => [...text].filter((c) => c !== " ").join(" ");
      const pair = (text, of) => ({ a: question(text, of), b: question(spelled(text), of) });

      function request() {
        const [text, of] = [clean(word.input.value), clean(letter.input.value)];
        if (!text || !of) return null;
        asked = { word: text, letter: of };
        return { op: "digits", ...pair(text, of), prefix: prefix.input.value };
      }
      function preview() {
        const { a, b } = pair(clean(word.input.value), clean(letter.input.value));
        const iso = (s) => `\u2068${BOT.visibleText(s).replaceAll("·", " ")}\u2069`;
        BOT.setText(shape, BOT.t("panel.letters.shape", { a: iso(a), b: iso(b) }));
      }
      function enter(event) {
        if (event.key !== "Enter" || event.isComposing) return;
        event.preventDefault();
        const wanted = request();
        if (wanted) asking.ask(wanted);
      }

      /* ---- what is shown ---- */

      const damaged = BOT.say(el("p", { class: "bot-note bot-note-warn", hidden: true }), "panel.contrast.damaged");
      const story = el("p", { class: "bot-letters-story" });
      const side = (name) => {
        const typed = el("p", { class: "bot-letters-typed" });
        const row = BOT.idRow(`panel.letters.given_${name}`);
        const gets = el("p", { class: "bot-letters-gets" });
        const said = el("span", { class: "bot-letters-said" });
        const verdict = el("span", { class: "bot-muted" });
        const answer = el("p", { class: "bot-letters-answer" }, BOT.say(el("span", { class: "bot-label" }), "panel.letters.answer"), " ", said, " ", verdict);
        return { typed, row, gets, said, verdict,
          node: el("div", { class: `bot-pair-side is-${name}` }, el("span", { class: "bot-pair-letter", "aria-hidden": "true" }, name.toUpperCase()),
            el("div", { class: "bot-letters-side" }, typed, BOT.say(el("p", { class: "bot-label" }), "panel.letters.given"), row.node, gets, answer)) };
      };
      const sides = { a: side("a"), b: side("b") };
      const bars = { first: BOT.digitBars("first"), after: BOT.digitBars("after") };
      const ids = el("p", { class: "bot-hint" });
      const columns = ["digit", "ids", "a_first", "b_first", "a_after", "b_after"].map((name, k) => ({ key: `panel.letters.col.${name}`, class: k === 1 ? "bot-mono" : "bot-n" }));
      const table = BOT.fold({ label: "panel.letters.table", columns, rows });
      const from = el("p", { class: "bot-facts-line" });
      const result = el("div", { class: "bot-letters", hidden: true }, damaged,
        el("div", { class: "bot-pair-sides" }, sides.a.node, sides.b.node), story,
        el("p", { class: "bot-duo-legend" }, ["a", "b"].map((name) => el("span", null, el("i", { class: `bot-duo-bar is-${name}`, "aria-hidden": "true" }), BOT.say(el("span"), `panel.letters.legend_${name}`)))),
        el("div", { class: "bot-letters-bars" }, bars.first.node, bars.after.node), ids, table.node, from);
      body.append(result);

      function show(answer) {
        // Which word and letter: the questions say so, whatever was typed since.
        found = { ...answer, ...asked };
        result.hidden = false;
        draw();
      }

      /** How often the letter is in the word, upper and lower case alike. */
      const count = () => [...found.word.toLowerCase()].filter((c) => c === found.letter.toLowerCase()).length;

      const user = (q) => q.prompt.filter((t) => t.source === "user" && !t.special);
      const textOf = (tokens) => BOT.piece(tokens.map((t) => t.hex).join("")).text || "";

      /** The tokens of the user's that hold a part of the word: from where it stands in their bytes. */
      function holds(tokens, text) {
        const at = textOf(tokens).lastIndexOf(text);
        const bytes = new TextEncoder();
        const start = bytes.encode(textOf(tokens).slice(0, at)).length;
        const end = start + bytes.encode(text).length;
        let place = 0;
        return tokens.map((t) => {
          const [first, last] = [place, (place += t.hex.length / 2)];
          return at >= 0 && last > start && first < end;
        });
      }

      function draw() {
        preview();
        asking.draw();
        if (!found) return;
        damaged.hidden = found.intact;
        const right = count();
        const one = {};
        for (const name of ["a", "b"]) {
          const q = found[name];
          const tokens = user(q);
          const text = name === "a" ? found.word : spelled(found.word);
          const marks = holds(tokens, text);
          const n = marks.filter(Boolean).length;
          one[name] = n;
          BOT.show(sides[name].typed, q.question, true);
          sides[name].row.set(tokens, (k) => marks[k]);
          BOT.setText(sides[name].gets, BOT.t(name === "a" ? "panel.letters.gets" : "panel.letters.gets_spelled", { n, ids: tokens.filter((_, k) => marks[k]).slice(0, MOST_IDS).map((t) => t.id).join(" "), letters: [...spelled(found.word)].filter((c) => c !== " ").length }));
          sides[name].said.replaceChildren(BOT.oneLine(q.first.text));
          BOT.setText(sides[name].verdict, q.first.finish === "eos" ? "" : BOT.t("panel.letters.cut", { n: q.first.answer.length }));
        }
        BOT.setText(story, BOT.t("panel.letters.story", { word: `\u2068${found.word}\u2069`, letter: `\u2068${found.letter}\u2069`, count: right, n: one.a }));
        const most = Math.max(...["a", "b"].flatMap((name) => [...found[name].first.probs, ...found[name].after.probs]));
        const beginning = `“\u2068${found.prefix}\u2069”`;
        for (const part of ["first", "after"]) {
          bars[part].set({ heading: BOT.t(`panel.letters.place_${part}`, { prefix: beginning }), a: found.a[part].probs, b: found.b[part].probs, most,
            right: right < 10 ? right : null, bestA: found.a[part].best.slice(0, BEST), bestB: found.b[part].best.slice(0, BEST), then: part === "after" ? [found.a.after.text, found.b.after.text] : null });
        }
        const several = found.counted.some((list) => list.length > 1);
        const none = found.counted.some((list) => !list.length);
        BOT.setText(ids, BOT.sentences([BOT.t(none ? "panel.letters.ids_none" : several ? "panel.letters.ids_several" : "panel.letters.ids", { ids: found.counted.map((list, d) => `${d}: ${list.join(" ") || "–"}`).join(", ") }), BOT.t("panel.letters.longer")]));
        BOT.setText(from, BOT.t(found.recorded ? "panel.letters.recorded" : "panel.letters.asked", { model: found.model.name, rows: BOT.num(found.model.vocab_rows) }));
        table.draw();
      }

      function rows() {
        if (!found) return [];
        const cell = (p) => ({ text: BOT.prob(p), title: BOT.exact(p) });
        return found.counted.map((list, d) => [String(d), list.join(" ") || "–", cell(found.a.first.probs[d]), cell(found.b.first.probs[d]), cell(found.a.after.probs[d]), cell(found.b.after.probs[d])]);
      }

      return {
        step() {},
        always() {
          if (began) return;
          began = true; // once it is on screen: what was recorded needs no model
          preview();
          const recorded = window.BOT_LETTERS;
          const { a, b } = pair(WORD, LETTER);
          if (recorded && recorded.a === a && recorded.b === b && recorded.prefix === PREFIX) asking.ask(request());
        },
        lang: draw,
      };
    },
  });
})();

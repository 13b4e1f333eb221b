/* Train it yourself: a vocabulary learnt from a corpus, merge by merge, and what it costs. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const { spelled } = BOT.spelling;
  const MOST = 2000; // merges
  const SHOWN = 700; // characters of the corpus that are drawn in pieces
  const PLAY_MS = 10000; // from the first merge to the last

  const COLUMNS = [
    { key: "panel.training.col.k", width: "4.4rem", class: "bot-n" }, { key: "panel.training.col.pair", width: "8.6rem", class: "bot-mono" },
    { key: "panel.training.col.piece", width: "6.4rem", class: "bot-mono" }, { key: "panel.training.col.count", width: "4.6rem", class: "bot-n" },
    { key: "panel.training.col.tokens", width: "4.8rem", class: "bot-n" },
  ];

  const text = (symbols) => BOT.tokenText(spelled(symbols) || "");

  BOT.labPanel({
    id: "training", stage: 2, deck: "pieces", input: { text: false, model: false },
    mount(body, ctx) {
      let found = null; // what was learnt, with the corpus it was learnt from
      let k = 0;
      let timer = 0;
      let own = false; // the corpus is the reader's

      const area = el("textarea", { class: "bot-lab-text bot-train-corpus", id: "bot-train-corpus", rows: 5, dir: "auto", spellcheck: "false", on: { input: () => { own = true; } } });
      const most = el("input", { class: "bot-train-field", type: "number", id: "bot-train-most", min: 0, max: MOST, value: 200 });
      const learn = BOT.say(el("button", { class: "bot-btn bot-train-go", type: "button", on: { click: () => ask() } }), "panel.training.learn");
      const sample = BOT.say(el("button", { class: "bot-btn", type: "button", on: { click: () => { own = false; ask(); } } }), "panel.training.sample");
      const play = el("button", { class: "bot-btn", type: "button", on: { click: () => (timer ? stop() : start()) } });
      const slider = BOT.say(el("input", { class: "bot-train-slider", type: "range", min: 0, max: 0, step: 1, on: { input: () => { stop(); at(Number(slider.value)); } } }), "panel.training.slider", "aria-label");
      const size = el("output", { class: "bot-train-size" });
      const story = el("p", { class: "bot-train-story", role: "status" });
      const pieces = BOT.trainingPieces();
      const more = el("p", { class: "bot-hint" });
      const differs = BOT.say(el("p", { class: "bot-note bot-note-warn", hidden: true }), "panel.training.differs");
      const endless = BOT.say(el("p", { class: "bot-note bot-note-info", hidden: true }), "panel.training.endless");
      const list = BOT.rows({ label: "panel.training.merges", columns: COLUMNS, draw: row, go: (i) => { stop(); at(i + 1); } });
      const costs = BOT.trainingCosts((next) => { stop(); at(next); });
      const table = BOT.fold({ label: "panel.training.table", columns: ["size", "tokens", "bytes", "pairs", "weights", "table"].map((name) => ({ key: `panel.training.table.${name}`, class: "bot-n" })), rows, mark: () => marks().indexOf(k), pick: (i) => at(marks()[i]) });
      const result = el("div", { class: "bot-train-result", hidden: true },
        el("div", { class: "bot-train-dial" }, play, slider, size), story,
        el("div", { class: "bot-train-main" },
          el("div", { class: "bot-train-side" }, BOT.say(el("h4", { class: "bot-label" }), "panel.training.pieces"), pieces.node, more, differs, endless),
          el("div", { class: "bot-train-side" }, BOT.say(el("h4", { class: "bot-label" }), "panel.training.merges"), list.node)),
        costs.node, table.node);
      body.append(
        el("div", { class: "bot-train-ask" },
          BOT.say(el("label", { class: "bot-label", for: area.id }), "panel.training.corpus"), area,
          el("div", { class: "bot-train-row" },
            BOT.say(el("label", { class: "bot-label", for: most.id }), "panel.training.most"), most, learn, sample)),
        result);

      function ask() {
        stop();
        if (!own) area.value = BOT.t("panel.training.sample_text");
        const corpus = area.value;
        const merges = Math.max(0, Math.min(MOST, Math.round(Number(most.value)) || 0));
        most.value = String(merges);
        ctx.take("train", { corpus, merges }, (answer) => show(answer, corpus));
      }

      function show(answer, corpus) {
        if (found && found.answer === answer) return;
        const last = answer.merges.length;
        const made = BOT.training.endless(corpus) ? null : BOT.training.corpusOf(corpus, answer.merges);
        const tokens = [answer.start, ...answer.merges.map((m) => m[3])];
        found = { answer, corpus, tokens, made };
        result.hidden = false;
        const right = made && [0, Math.floor(last / 2), last].every((n) => made.total(n) === tokens[n]);
        endless.hidden = made !== null;
        differs.hidden = right !== false;
        pieces.node.hidden = more.hidden = !right;
        pieces.set(corpus, right ? made : null, SHOWN);
        slider.max = String(last);
        list.set(last);
        list.redraw();
        costs.set({ first: answer.alphabet, tokens });
        at(last);
        words();
      }

      const last = () => found.answer.merges.length;

      /** Show the state after `next` merges. */
      function at(next) {
        k = next;
        slider.value = String(k);
        const merge = k > 0 ? found.answer.merges[k - 1] : null;
        pieces.at(k, merge ? merge[0] + merge[1] : null);
        list.current(k - 1);
        costs.at(k);
        table.draw();
        tell();
      }

      function tell() {
        const { answer, tokens } = found;
        const merge = k > 0 ? answer.merges[k - 1] : null;
        BOT.setText(size, BOT.t("panel.training.size", { first: BOT.num(answer.alphabet), k: BOT.num(k), n: BOT.num(answer.alphabet + k) }));
        BOT.setAttr(slider, "aria-valuetext", size.textContent);
        const iso = (s) => `\u2068${s}\u2069`;
        BOT.setText(story, merge ? BOT.t("panel.training.story", { k: BOT.num(k), left: iso(text(merge[0])), right: iso(text(merge[1])), piece: iso(text(merge[0] + merge[1])),
          count: BOT.num(merge[2]), before: BOT.num(tokens[k - 1]), after: BOT.num(tokens[k]) })
          : BOT.t(last() ? "panel.training.story_start" : "panel.training.story_none", { n: BOT.num(tokens[0]) }));
        BOT.setText(play, timer ? BOT.t("panel.training.pause") : BOT.t("panel.training.play"));
        BOT.setAttr(play, "aria-disabled", last() ? null : "true");
      }

      function words() {
        if (!found) return;
        const { answer, corpus } = found;
        BOT.setText(more, BOT.t(pieces.whole ? "panel.training.more_none" : "panel.training.more", { n: BOT.num([...corpus].length), words: BOT.num(answer.n_words), bytes: BOT.num(answer.n_bytes), learnt: BOT.num(last()) }));
        tell();
      }

      function row(cells, i) {
        const [left, right, count, tokens] = found.answer.merges[i];
        BOT.setText(cells[0], BOT.num(i + 1));
        BOT.setText(cells[1], `${text(left)} + ${text(right)}`);
        BOT.setText(cells[2], text(left + right));
        BOT.setText(cells[3], BOT.num(count));
        BOT.setText(cells[4], BOT.num(tokens));
        for (const c of cells) c.title = c.textContent;
      }

      /** The table has every merge where they are few, else some at even distances. */
      function marks() {
        const every = Math.max(1, Math.ceil(last() / 40));
        const some = Array.from({ length: Math.floor(last() / every) + 1 }, (_, n) => n * every);
        return [...new Set([...some, last(), k])].sort((a, b) => a - b);
      }
      function rows() {
        if (!found) return [];
        return marks().map((n) => {
          const cost = costs.of(n);
          return [BOT.num(found.answer.alphabet + n), BOT.num(found.tokens[n]), { text: BOT.sig(found.answer.n_bytes / found.tokens[n], 3), title: String(found.answer.n_bytes / found.tokens[n]) },
            BOT.num(cost.pairs), BOT.num(cost.weights), { text: BOT.bytes(cost.bytes), title: BOT.num(cost.bytes) }];
        });
      }

      /* ---- playing ---- */

      function start() {
        if (!last()) return;
        if (k === last()) at(0);
        const every = Math.max(40, Math.min(400, PLAY_MS / last()));
        const stride = Math.max(1, Math.round((last() * every) / PLAY_MS));
        timer = setInterval(() => {
          at(Math.min(last(), k + stride));
          if (k === last()) stop();
        }, every);
        tell();
      }
      function stop() {
        if (!timer) return;
        clearInterval(timer);
        timer = 0;
        tell();
      }

      return {
        draw: () => ask(),
        lang() {
          if (!own && found) ask(); // the sample of that language
          costs.draw();
          list.redraw();
          table.draw();
          words();
        },
      };
    },
  });
})();

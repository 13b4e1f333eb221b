/* How a piece comes to be: the text is cut into words, and a chosen word becomes pieces step by step. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const FIRST = 40; // of these words the longest is chosen first, and none longer than so many symbols

  BOT.labPanel({
    id: "merges", stage: 2, deck: "pieces",
    mount(body, ctx) {
      let cut = null;
      let at = -1;
      let problem = null; // why a word could not be told

      const words = BOT.mergeWords({ choose });
      const rules = BOT.mergeRules();
      const counts = el("p", { class: "bot-merges-counts" });
      const inexact = BOT.say(el("p", { class: "bot-note bot-note-warn", hidden: true }), "panel.merges.inexact");
      const title = el("h4", { class: "bot-merges-title" });
      const where = el("span", { class: "bot-muted" });
      const rule = el("p", { class: "bot-merges-rule" });
      const pattern = el("p", { class: "bot-merges-pattern" });
      const twin = BOT.mergeTwin({ show: tell });
      const failed = el("p", { class: "bot-note bot-note-bad", role: "status", hidden: true });
      const stage = BOT.mergeStage();
      const other = BOT.mergeOther();
      const story = el("div", { class: "bot-merges-story" },
        el("div", { class: "bot-merges-head" }, title, where), rule, pattern, twin.node, failed, stage.node, other.node);
      const none = BOT.say(el("p", { class: "bot-note bot-note-info", hidden: true }), "ui.lab.empty");
      const all = el("div", { class: "bot-merges", hidden: true },
        el("div", { class: "bot-merges-first" }, counts, words.node, rules.node, inexact), story);
      body.append(none, all);

      const ruleOf = (w) => (cut.words[w][3] < 0 ? null : cut.rules[cut.words[w][3]]);

      /** Words by rule; those that none cut come last. */
      function ruled() {
        const found = new Array(cut.rules.length + 1).fill(0);
        for (const [, , , r] of cut.words) found[r < 0 ? cut.rules.length : r] += 1;
        return found;
      }

      function say() {
        BOT.setText(counts, BOT.t("panel.merges.counts", { words: BOT.t("panel.merges.n_words", { n: BOT.num(cut.words.length) }), tokens: BOT.t("panel.merges.tokens", { n: BOT.num(cut.ids.length) }), kind: BOT.t(`panel.merges.kind.${cut.kind}`, { merges: BOT.num(cut.merges) }) }));
        rules.draw(cut.rules, ruled());
        if (at < 0) return;
        const [start, end, written] = cut.words[at];
        title.replaceChildren(BOT.visible(words.text(at)));
        BOT.setText(where, BOT.t("panel.merges.where", { n: end - start, start, last: end - 1, written: BOT.visibleText(written) }));
        const found = ruleOf(at);
        const by = found ? [BOT.t("panel.merges.cut_by", { step: found.step })] : [];
        BOT.setText(rule, [...by, BOT.mergeRule.plainly(found)].join(BOT.state.lang === "zh" ? "" : " "));
        pattern.hidden = !found || found.pattern === null;
        if (!pattern.hidden) pattern.replaceChildren(BOT.mergeRule.pattern(found));
        rules.mark(cut.words[at][3] < 0 ? cut.rules.length : cut.words[at][3]);
      }

      function choose(w) {
        at = w;
        words.mark(w);
        say();
        const written = cut.words[w][2];
        if (cut.exact) tell(written);
        twin.set(cut.exact && cut.kind !== "words" ? words.text(w) : "", written);
      }

      const apply = BOT.latest((found) => {
        const merged = found && found.kind === "bpe" && !found.whole;
        failed.hidden = true;
        stage.set(merged ? found : null, cut.merges);
        other.set(merged ? null : found);
      }, (error) => {
        stage.set(null, 0);
        other.set(null);
        failed.hidden = false;
        problem = error;
        BOT.setText(failed, BOT.pick(error.text) || BOT.t("ui.lab.failed"));
      });

      /** Tell the story of a word as the vocabulary writes it. */
      function tell(written) {
        stage.stop();
        apply(ctx.lab.ask("story", { written }));
      }

      /** Of the first words the one with most to tell. */
      function first() {
        let best = 0;
        cut.words.slice(0, FIRST).forEach(([, , written], w) => {
          const n = [...written].length;
          if (n <= FIRST && n > [...cut.words[best][2]].length) best = w;
        });
        return best;
      }

      function show(found) {
        cut = found;
        at = -1;
        all.hidden = false;
        words.set(cut);
        inexact.hidden = cut.exact;
        story.hidden = !cut.words.length;
        if (!cut.exact) apply(Promise.resolve(null));
        if (cut.words.length) choose(first());
        else say();
      }

      return {
        draw({ text }) {
          none.hidden = text !== "";
          if (text !== "") return ctx.take("cut", {}, show);
          all.hidden = true;
          stage.stop();
        },
        lang() {
          if (!cut) return;
          words.redraw();
          say();
          stage.lang();
          other.lang();
          twin.lang();
          if (!failed.hidden) BOT.setText(failed, BOT.pick(problem.text) || BOT.t("ui.lab.failed"));
        },
      };
    },
  });
})();

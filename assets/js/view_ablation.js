/* Take something away and look: a token hidden, a head or a layer's FFN knocked out, and what the
 * distribution of the next token does. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, state } = BOT;

  const NONE = { hide: null, head: null, ffn: null };
  const keyOf = (step, q) => `${step}|${q.hide}|${q.head}|${q.ffn}`;
  const empty = (q) => q.hide === null && q.head === null && q.ffn === null;

  BOT.insidePanel({
    id: "ablation", stage: 7, deck: "lab",
    mount(body, ctx) {
      const books = new WeakMap(); // data -> {known: Map, asked, changes, id}
      let count = 0;
      let data = null;
      let book = null;
      let step = 0;
      let question = NONE;
      let several = false;
      let job = null; // {cancel, left, total}
      let told = null;
      let problem = null;

      /* ---- what is seen ---- */

      const now = el("p", { class: "bot-abl-now" });
      const pickers = BOT.ablationPickers(pick);
      const dials = [
        BOT.dial({ key: "ui.inside.layer", get: () => ctx.focus.layer, set: (layer) => ctx.setFocus({ layer }) }),
        BOT.dial({ key: "ui.inside.head", get: () => ctx.focus.head, set: (head) => ctx.setFocus({ head }) }),
      ];
      const this_head = BOT.say(el("button", { type: "button", class: "bot-btn", on: { click: () => pick("head", [ctx.focus.layer, ctx.focus.head]) } }), "panel.ablation.this_head");
      const box = el("input", { type: "checkbox", on: { change: () => { several = box.checked; } } });
      const away = el("p", { class: "bot-abl-away", "aria-live": "polite" });
      const look = BOT.say(el("button", { type: "button", class: "bot-btn bot-pair-go", on: { click: () => run([question]) } }), "panel.ablation.look");
      const none = BOT.say(el("button", { type: "button", class: "bot-btn", on: { click: () => choose(NONE) } }), "panel.ablation.clear");
      const stop = BOT.say(el("button", { type: "button", class: "bot-btn", on: { click: halt } }), "ui.inside.stop");
      const meter = el("progress", { class: "bot-progress", max: 1 });
      const says = el("p", { class: "bot-pair-says", role: "status" });
      const every = ["hide", "head", "ffn"].map((kind) => BOT.say(el("button", { type: "button", class: "bot-chip", on: { click: () => run(all(kind)) } }), `panel.ablation.every_${kind}`));
      const there = el("p", { class: "bot-abl-there" });
      const jump = el("button", { type: "button", class: "bot-chip", on: { click: () => BOT.go(recordedStep()) } });
      const hint = el("div", { class: "bot-abl-hint" }, there, jump);
      const result = BOT.ablationResult();
      const blank = el("p", { class: "bot-abl-blank" });
      const history = BOT.ablationHistory(say, (entry) => {
        choose({ hide: entry.hide, head: entry.head, ffn: entry.ffn }, entry.step);
        if (entry.step !== step) BOT.go(entry.step);
      });
      const part = (key, hintKey, ...nodes) => el("section", { class: "bot-abl-part" }, BOT.say(el("h4", { class: "bot-pair-head" }), key), BOT.say(el("p", { class: "bot-hint" }), hintKey), nodes);
      body.append(now, hint, el("div", { class: "bot-abl-grid" },
        el("div", { class: "bot-abl-pick" },
          part("panel.ablation.tokens", "panel.ablation.tokens_hint", pickers.tokens, every[0]),
          part("panel.ablation.ffn", "panel.ablation.ffn_hint", pickers.ffn, every[2]),
          part("panel.ablation.heads", "panel.ablation.heads_hint", el("div", { class: "bot-dials" }, dials.map((d) => d.node), this_head), pickers.heads, every[1])),
        el("div", { class: "bot-abl-see" },
          el("div", { class: "bot-abl-ask" }, away, el("div", { class: "bot-abl-row" }, look, none, stop, meter),
            el("label", { class: "bot-gate-auto" }, box, " ", BOT.say(el("span"), "panel.ablation.several")), says),
          blank, result.node)), history.node);

      /* ---- what is known ---- */

      const entryOf = (q, at = step) => book.known.get(keyOf(at, q));

      function keep(found, recorded) {
        const head = found.head ? [...found.head] : null;
        const k = found.ids ? found.ids.data.indexOf(found.chosen) : -1;
        const key = keyOf(found.step, { ...found, head });
        const old = book.known.get(key);
        const entry = old || { step: found.step, hide: found.hide, head, ffn: found.ffn, recorded, order: book.known.size };
        Object.assign(entry, { kl: found.kl_bits, found: found.ids ? found : entry.found,
          before: k < 0 ? found.chosen_before : found.probs_before.data[k], after: k < 0 ? found.chosen_after : found.probs_after.data[k] });
        book.known.set(key, entry);
        book.changes += 1;
      }

      /** What the file of a recorded run has: asked for once, then its strongest token, to begin with. */
      async function recorded(mine) {
        if (mine.asked) return;
        mine.asked = true;
        try {
          const { ablations } = await data.work("ablations", {}).promise;
          if (book !== mine) return;
          ablations.forEach((a) => keep(a, true));
          const [first] = ablations.filter((a) => a.hide !== null && a.head === null && a.ffn === null).sort((a, b) => b.kl_bits - a.kl_bits);
          if (first && empty(question)) {
            question = { ...NONE, hide: first.hide };
            keep(await data.work("ablate", { step: first.step, ...question }).promise, true);
          }
          if (book === mine) draw();
        } catch (error) {
          mine.asked = false;
          if (book === mine) fail(error);
        }
      }

      const recordedStep = () => {
        const found = [...book.known.values()].find((entry) => entry.recorded);
        return found ? found.step : null;
      };

      /* ---- what is asked ---- */

      function pick(kind, value) {
        const same = JSON.stringify(question[kind]) === JSON.stringify(value);
        if (kind === "head") ctx.setFocus({ layer: value[0], head: value[1] });
        choose({ ...(several ? question : NONE), [kind]: same ? null : value });
      }

      /** Another question; what is known of it is fetched at once, since that costs nothing. */
      function choose(next, at = step) {
        question = next;
        problem = null;
        const entry = !empty(next) && entryOf(next, at);
        if (entry && !entry.found) run([next], at);
        draw();
      }

      const all = (kind) => {
        const { n_layers: L, n_heads: H } = data.model;
        const each = { hide: data.n_prompt + step, head: H, ffn: L }[kind];
        return Array.from({ length: each }, (_, k) => ({ ...NONE, [kind]: kind === "head" ? [ctx.focus.layer, k] : k })).filter((q) => !entryOf(q));
      };

      function halt() {
        if (job) job.cancel();
        job = null;
        told = null;
        status();
      }

      function fail(error) {
        if (error instanceof BOT.Halted) return;
        problem = error;
        halt();
      }

      /** Ask for each in turn; the last one stays in view only where it was asked alone. */
      async function run(questions, at = step) {
        if (job) halt();
        problem = null;
        const mine = (job = { cancel() {}, done: 0, total: questions.length });
        const [from, of] = [book, data];
        for (const q of questions) {
          const entry = from.known.get(keyOf(at, q));
          if (!entry || !entry.found) {
            const asked = of.work("ablate", { step: at, ...q }, (next) => {
              if (job !== mine) return;
              told = next;
              status();
            });
            mine.cancel = asked.cancel;
            status();
            try {
              const found = await asked.promise;
              if (book === from) keep(found, Boolean(entry && entry.recorded));
            } catch (error) {
              if (job === mine) fail(error);
              return;
            }
          }
          if (job !== mine) return;
          mine.done += 1;
          draw();
        }
        halt();
        draw();
      }

      /* ---- drawing ---- */

      /** What was taken away, in words. */
      function say(q) {
        const parts = [];
        if (q.hide !== null) parts.push(BOT.t("panel.ablation.token_of", { token: BOT.tokenOrNone(BOT.inside.token(data, q.hide).hex), position: q.hide }));
        if (q.head !== null) parts.push(BOT.t("panel.ablation.head_of", { layer: q.head[0], head: q.head[1] }));
        if (q.ffn !== null) parts.push(BOT.t("panel.ablation.ffn_of", { layer: q.ffn }));
        return parts.join(" + ");
      }

      function status() {
        const busy = Boolean(job);
        meter.hidden = stop.hidden = !busy;
        look.disabled = busy || empty(question) || Boolean((entryOf(question) || {}).found);
        none.disabled = empty(question);
        every.forEach((button) => { button.disabled = busy; });
        if (busy) meter.value = job.done / job.total;
        says.classList.toggle("is-bad", Boolean(problem));
        BOT.setText(says, problem ? BOT.pick(problem.text) || BOT.t("panel.ablation.failed")
          : busy ? BOT.t("panel.ablation.working", { done: job.done + 1, n: job.total, how: told ? BOT.workSays(told) : BOT.t("panel.ablation.asking") }) : "");
      }

      function heading() {
        const { trace } = state;
        const s = trace.steps[step];
        BOT.setText(now, BOT.t("panel.ablation.now", { run: step + 1, n: trace.steps.length, token: BOT.tokenOrNone(s.tok.hex), p: BOT.prob(Math.exp(s.logprob)), before: data.n_prompt + step }));
        const at = recordedStep();
        hint.hidden = at === null || at === step;
        if (hint.hidden) return;
        const count = [...book.known.values()].filter((e) => e.recorded).length;
        BOT.setText(there, BOT.t("panel.ablation.recorded_at", { n: count, run: at + 1 }));
        BOT.setText(jump, BOT.t("panel.ablation.go_there", { run: at + 1, token: BOT.tokenOrNone(trace.steps[at].tok.hex) }));
      }

      function draw() {
        if (!data) return;
        heading();
        pickers.draw({ data, step, question, of: (q) => { const e = entryOf(q); return e ? e.kl : undefined; } });
        const entry = empty(question) ? undefined : entryOf(question);
        const found = entry && entry.found;
        BOT.setText(away, empty(question) ? BOT.t("panel.ablation.nothing") : BOT.t(found ? "panel.ablation.gone" : "panel.ablation.away", { what: say(question) }));
        result.set(found || null);
        blank.hidden = Boolean(found);
        if (!found) BOT.setText(blank, BOT.t(empty(question) ? "panel.ablation.choose" : "panel.ablation.press"));
        history.draw(() => [...book.known.values()], entry, `${book.id} ${book.changes} ${state.lang}`);
        status();
      }

      return {
        inside(next) {
          if (job) halt();
          data = next;
          if (!books.has(data)) books.set(data, { known: new Map(), asked: !data.recorded, changes: 0, id: (count += 1) });
          book = books.get(data);
          question = NONE;
          problem = null;
          dials[0].set(data.model.n_layers);
          dials[1].set(data.model.n_heads);
          step = Math.max(0, state.i);
          recorded(book);
        },
        step(i) {
          step = Math.max(0, i);
          // A later token can not be hidden from an earlier run.
          if (question.hide !== null && question.hide >= data.n_prompt + step) question = { ...question, hide: null };
          draw();
        },
        focus() {
          dials.forEach((dial) => dial.draw());
        },
        lang: draw,
      };
    },
  });
})();

/* The question and the answer being born, in big type.
 *
 * A chip is the shortest run of tokens that ends on a whole character as people see one: mostly one
 * token, several where a character is spread over tokens (then a tick under the chip for each).
 * All chips of the trace are laid out at once and those still to come are hidden, so a step
 * changes classes and nothing moves. The text is what became visible, never a token decoded alone.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, state } = BOT;

  const TINTS = 6;
  const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

  /** Does `more` go on with the last character of `text`? (An accent, a joiner, the next face.) */
  function continues(text, more) {
    if (!text || !more) return false;
    for (const { index } of graphemes.segment(text + more)) if (index === text.length) return false;
    return true;
  }

  BOT.bar({
    class: "bot-hero", tag: "section", lazy: true,
    mount(body, ctx) {
      BOT.say(body, "ui.hero", "aria-label");
      const askedBy = el("p", { class: "bot-label" });
      const system = el("p", { class: "bot-hero-system" });
      const question = el("div", { class: "bot-hero-question", dir: "auto" });
      const meta = el("p", { class: "bot-hero-meta" });
      const who = el("bdi");
      const answer = el("div", { class: "bot-hero-answer", on: { click: pick } });
      const fate = el("p", { class: "bot-hero-fate", "aria-live": "off" });
      const notes = el("ul", { class: "bot-hero-notes" });
      const held = el("p", { class: "bot-held" });
      const heldBytes = el("span", { class: "bot-bytes" });
      const heldText = el("span");
      held.append(heldBytes, heldText);
      body.append(
        el("div", { class: "bot-hero-ask" }, askedBy, system, question, notes),
        el("div", { class: "bot-hero-say" },
          el("div", { class: "bot-hero-line" },
            el("p", { class: "bot-label bot-hero-who" }, who, meta),
            el("div", { class: "bot-hero-now" }, held, fate)), answer));

      let chips = []; // {node, words, ticks: [node], from, to, parts: [string]}
      let chipOf = []; // step -> its chip's place
      let at = -1; // the step the classes are set for

      function pick(event) {
        const target = event.target.closest("[data-i]");
        if (target) ctx.go(Number(target.dataset.i));
      }

      function add(step) {
        const last = chips[chips.length - 1];
        const before = state.trace.steps[step.i - 1];
        const joined = last && !last.special && !step.tok.special
          && ((before && before.pending) || continues(last.parts.join(""), step.emitted));
        const chip = joined ? last : fresh(step);
        chip.to = step.i;
        chip.parts.push(step.emitted);
        chip.node.dataset.i = String(step.i);
        chipOf.push(chips.length - 1);
        if (joined) {
          if (chip.ticks.length === 0) tick(chip, step.i - 1);
          tick(chip, step.i);
        }
        for (const c of step.emitted) if (c === "\n") answer.append(el("br"));
      }

      function fresh(step) {
        const words = el("span", { class: "bot-born-text" });
        const node = el("span", { class: `bot-born bot-tint-${chips.length % TINTS} is-future` }, words);
        const chip = { node, words, ticks: [], row: null, from: step.i, to: step.i, parts: [], special: step.tok.special, hex: step.tok.hex };
        if (chip.special) node.classList.add("is-special");
        chips.push(chip);
        answer.append(node);
        return chip;
      }

      function tick(chip, i) {
        if (!chip.row) chip.node.append((chip.row = el("span", { class: "bot-born-ticks" })));
        const node = el("i", { "data-i": i, title: BOT.hex(state.trace.steps[i].tok.hex) });
        chip.ticks.push(node);
        chip.row.append(node);
      }

      /** The chip as it stands at step i: whole, half there, or still to come. */
      function dress(chip, i) {
        const { node } = chip;
        const future = chip.from > i;
        const shown = future || chip.to <= i ? chip.to : i;
        const text = chip.parts.slice(0, shown - chip.from + 1).join("");
        const step = state.trace.steps[shown];
        node.classList.toggle("is-future", future);
        node.classList.toggle("is-current", chip.from <= i && i <= chip.to);
        node.classList.toggle("is-held", !future && step.pending !== "");
        if (chip.special) BOT.show(chip.words, BOT.piece(chip.hex).text || "");
        else if (text) BOT.show(chip.words, text);
        else BOT.show(chip.words, step.pending ? "□" : BOT.tokenText(step.tok.hex));
        chip.ticks.forEach((t, k) => {
          t.classList.toggle("is-here", chip.from + k === i);
          t.classList.toggle("is-past", chip.from + k <= i);
        });
      }

      function chipsUpTo(i) {
        const [low, high] = [Math.min(at, i), Math.max(at, i)];
        const first = low < 0 ? 0 : chipOf[low];
        const last = high < 0 ? -1 : chipOf[high];
        for (let k = first; k <= last; k++) dress(chips[k], i);
        at = i;
        // After the frame, when the browser has laid the page out anyway.
        if (high >= 0) setTimeout(intoView);
      }

      function intoView() {
        const chip = chips[chipOf[at]];
        if (chip) BOT.reveal(answer, chip.node);
      }

      function prompt() {
        const { trace } = state;
        const messages = trace.messages || [];
        const users = messages.filter((m) => m.role === "user");
        const before = messages.find((m) => m.role === "system");
        const raw = trace.messages === null;
        BOT.setText(askedBy, BOT.t(raw ? "ui.raw_prompt" : "ui.asked"));
        BOT.show(question, raw ? trace.raw_prompt : users.map((m) => m.content).join("\n\n"), true);
        system.hidden = !before;
        if (before) system.replaceChildren(BOT.t("ui.system"), " ", BOT.visible(before.content, true));
        notes.replaceChildren(...(trace.notes || []).map(([key, values]) => el("li", { dir: "auto" }, BOT.t(key, values))));
        BOT.setText(who, trace.model.name);
        const p = trace.params;
        const parts = p.temperature === 0 ? [BOT.t("ui.greedy")] : [BOT.t("ui.sampled", { t: p.temperature })];
        if (p.temperature !== 0) {
          if (p.top_k) parts.push(`top-k ${p.top_k}`);
          if (p.top_p < 1) parts.push(`top-p ${p.top_p}`);
          if (p.min_p) parts.push(`min-p ${p.min_p}`);
          parts.push(BOT.t("ui.seed", { seed: p.seed }));
        }
        BOT.setText(meta, parts.join(" · "));
      }

      const FINISH = { eos: "ui.finish.eos", length: "ui.finish.length", cancelled: "ui.finish.cancelled", context: "ui.finish.context", error: "ui.finish.error" };

      /** One line that says what this step did. */
      function sentence() {
        const { trace, i, progress, running } = state;
        const step = trace.steps[i];
        if (!step) {
          if (progress) return BOT.t("ui.fate.reading", { done: BOT.num(progress.done), total: BOT.num(progress.total) });
          return BOT.t(running ? "ui.fate.starting" : "ui.fate.before", { n: BOT.num(trace.prompt.length) });
        }
        const parts = [BOT.t("ui.fate.token", { token: BOT.tokenText(step.tok.hex), id: step.tok.id }),
          BOT.t(step.stages.length > 1 ? "ui.fate.prob_raw" : "ui.fate.prob", { p: BOT.prob(Math.exp(step.logprob)) }),
          BOT.t("ui.fate.rank", { rank: BOT.num(step.rank) })];
        if (step.phase === "forced") parts.push(BOT.t("ui.fate.forced"));
        if (i === trace.steps.length - 1 && FINISH[trace.finish]) parts.push(BOT.t(FINISH[trace.finish]));
        return parts.join(" · ");
      }

      function now() {
        const step = state.trace.steps[state.i];
        BOT.setText(fate, sentence());
        const pending = step ? step.pending : "";
        held.classList.toggle("is-empty", !pending);
        if (pending) {
          const { missing } = BOT.piece("", pending);
          BOT.setText(heldBytes, BOT.hex(pending));
          BOT.setText(heldText, BOT.t("ui.held", { n: missing }));
        }
      }

      BOT.on("progress", () => state.trace && now());
      return {
        trace(trace) {
          chips = [];
          chipOf = [];
          at = -1;
          answer.replaceChildren();
          prompt();
          trace.steps.forEach(add);
          chips.forEach((chip) => dress(chip, -1));
          now();
        },
        append(step) {
          add(step);
          dress(chips[chipOf[step.i]], at);
        },
        end: now,
        step(i) {
          chipsUpTo(i);
          now();
        },
        lang() {
          if (!state.trace) return;
          prompt();
          now();
        },
      };
    },
  });
})();

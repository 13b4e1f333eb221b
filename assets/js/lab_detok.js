/* Back to text: the whole run as one picture of its bytes, and what each id by itself would have given. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, state } = BOT;
  const { piece, printed } = BOT.detok;
  const PAGE = 256; // steps drawn at once, and a few more until a character ends

  const COLUMNS = [
    { key: "panel.detok.col.step", width: "4rem", class: "bot-n" }, { key: "panel.detok.col.id", width: "5.5rem", class: "bot-n" },
    { key: "panel.detok.col.bytes", width: "13rem", class: "bot-mono" }, { key: "panel.detok.col.alone", width: "13rem", class: "bot-mono" },
    { key: "panel.detok.col.held", width: "8rem", class: "bot-mono" }, { key: "panel.detok.col.visible", width: "11rem", class: "bot-mono" },
  ];

  BOT.panel({
    id: "detok", stage: 6,
    mount(body, ctx) {
      const story = el("p", { class: "bot-detok-story" });
      const [before, fresh] = [el("span"), el("mark", { class: "bot-fresh" })];
      const waits = el("span", { class: "bot-detok-waits", hidden: true });
      const each = el("span");
      const out = (key, ...nodes) => el("div", { class: "bot-detok-out" }, BOT.say(el("p", { class: "bot-label" }), key), el("p", { class: "bot-detok-text", dir: "auto" }, nodes));
      const lane = BOT.detokLane({ go: ctx.go });
      const legend = el("p", { class: "bot-detok-legend bot-hint" }, ["char", "byte", "token", "rubbish", "held"].map((name) =>
        el("span", null, el("i", { class: `bot-detok-key is-${name}`, "aria-hidden": "true" }), BOT.say(el("span"), `panel.detok.legend.${name}`))));
      const now = el("p", { class: "bot-detok-now", role: "status" });
      const part = el("p", { class: "bot-hint", hidden: true });
      const rows = BOT.rows({ label: "panel.detok.table", columns: COLUMNS, draw: row, go: ctx.go });
      const table = el("details", { class: "bot-fold" }, BOT.say(el("summary"), "panel.detok.table"), rows.node);
      body.append(story, lane.node, legend, now, part,
        el("div", { class: "bot-detok-outs" }, out("panel.detok.joined", before, fresh, waits), out("panel.detok.each", each)), table);

      let pieces = []; // of each step
      let joined = ""; // all that became visible
      let until = []; // how much of it after each step
      let started = false; // some bytes came
      let pages = [0]; // the first step of each
      let from = -1; // the page drawn: its first step, and the spans of each step
      let spans = [];
      let at = -1;

      const plain = (text) => BOT.marks(text, true).map((run) => run[1]).join("");
      const ends = (trace, k) => trace.finish === "eos" && k === trace.steps.length - 1;

      function read(k) {
        const { trace } = state;
        pieces[k] = piece(trace.steps[k], !started, ends(trace, k));
        started = started || pieces[k].hex !== "";
        joined += trace.steps[k].emitted;
        until[k] = joined.length;
        const start = pages[pages.length - 1];
        if (k - start >= PAGE && (!trace.steps[k - 1].pending || k - start >= 2 * PAGE)) pages.push(k);
      }

      function draw(k) {
        lane.add({ k, hex: state.trace.steps[k].tok.hex, piece: pieces[k] });
        const span = el("span", { hidden: k > at }, pieces[k].ends ? "" : printed(pieces[k].alone, true));
        spans[k - from] = span;
        each.append(span);
      }

      /** The page with step i; drawn when it is another one. */
      function turn(i) {
        const first = pages.findLast((start) => start <= Math.max(0, i));
        if (first === from) return;
        from = first;
        spans = [];
        each.replaceChildren(from > 0 ? "… " : "");
        lane.clear(from);
        for (let k = from; k < last(); k++) draw(k);
      }
      const last = () => pages.find((start) => start > from) || pieces.length;

      function row(cells, i) {
        const s = state.trace.steps[i];
        const p = pieces[i];
        BOT.setText(cells[0], BOT.num(i + 1));
        BOT.setText(cells[1], String(s.tok.id));
        BOT.setText(cells[2], p.ends ? BOT.t("panel.detok.end") : BOT.hex(p.hex) || "∅");
        BOT.setText(cells[3], p.ends ? "–" : p.rubbish ? BOT.t("panel.detok.marks", { n: p.rubbish, bytes: p.alone.filter((r) => r.hex).map((r) => `⟨${BOT.hex(r.hex)}⟩`).join(" ") }) : BOT.tokenText(p.hex) || "–");
        BOT.setText(cells[4], s.pending ? BOT.hex(s.pending) : "–");
        BOT.setText(cells[5], s.emitted ? BOT.visibleText(s.emitted) : "–");
        for (const c of cells) c.title = c.textContent;
      }

      function tell() {
        const { trace } = state;
        const some = pieces.filter((p) => p.rubbish);
        const bytes = pieces.reduce((n, p) => n + p.hex.length / 2, 0);
        const points = trace.steps.reduce((n, s) => n + [...s.emitted].length, 0);
        const values = { n: pieces.filter((p) => !p.ends).length, bytes: BOT.num(bytes), characters: BOT.num(points) };
        const second = some.length ? BOT.t("panel.detok.story_rubbish", { n: BOT.num(some.length), marks: BOT.num(some.reduce((n, p) => n + p.rubbish, 0)),
          held: BOT.num(trace.steps.filter((s) => s.pending).length) }) : BOT.t("panel.detok.story_clean");
        BOT.setText(story, pieces.length ? BOT.sentences([BOT.t("panel.detok.story", { ...values, n: BOT.num(values.n) }), second]) : BOT.t("panel.detok.none"));
      }

      /** The step on screen in words. */
      function words(i) {
        const s = state.trace.steps[i];
        now.hidden = !s;
        if (!s) return;
        const p = pieces[i];
        const values = { step: BOT.num(i + 1), id: s.tok.id, bytes: BOT.hex(p.hex) || "∅", text: `\u2068${BOT.visibleText(s.emitted)}\u2069` };
        const said = [BOT.t(p.ends ? "panel.detok.now_end" : s.emitted ? "panel.detok.now" : "panel.detok.now_none", values)];
        if (s.pending) said.push(BOT.t(ctx.trace.finish && i === ctx.trace.steps.length - 1 ? "panel.detok.now_lost" : "panel.detok.now_held", { held: BOT.hex(s.pending), n: BOT.piece("", s.pending).missing }));
        if (p.dropped) said.push(BOT.t("panel.detok.now_dropped"));
        if (p.rubbish) said.push(BOT.t("panel.detok.now_rubbish", { n: p.rubbish }));
        BOT.setText(now, BOT.sentences(said));
      }

      function step(i) {
        const { trace } = state;
        turn(i);
        for (let k = Math.max(from, Math.min(at, i) + 1); k <= Math.max(at, i) && k - from < spans.length; k++) spans[k - from].hidden = k > i;
        at = i;
        lane.step(i);
        const s = trace.steps[i];
        const [begin, start] = [from, i].map((k) => (k > 0 ? until[k - 1] : 0));
        BOT.setText(before, `${from > 0 ? "… " : ""}${plain(joined.slice(begin, start))}`);
        BOT.setText(fresh, s ? plain(s.emitted) : "");
        waits.hidden = !(s && s.pending);
        BOT.setText(waits, s && s.pending ? BOT.hex(s.pending) : "");
        part.hidden = pages.length < 2;
        if (!part.hidden) BOT.setText(part, BOT.t("panel.detok.part", { from: BOT.num(from + 1), to: BOT.num(last()), n: BOT.num(pieces.length) }));
        words(i);
        rows.current(i);
      }

      /** Everything again: another trace, or a last token that turns out to be the end. */
      function whole() {
        pieces = [];
        joined = "";
        until = [];
        pages = [0];
        started = false;
        from = -1;
        state.trace.steps.forEach((_, k) => read(k));
        turn(state.i);
        rows.set(pieces.length);
        rows.redraw();
        tell();
      }

      return {
        trace: whole,
        append() {
          const k = pieces.length;
          read(k);
          rows.set(k + 1);
          if (from >= 0 && k < last() + 1 && pages[pages.length - 1] === from) draw(k);
          tell();
        },
        end() {
          if (state.trace.finish === "eos") {
            whole();
            step(state.i);
          } else if (pieces.length) words(state.i);
        },
        step,
        lang() {
          if (!state.trace) return;
          tell();
          rows.redraw();
          step(state.i);
        },
      };
    },
  });
})();

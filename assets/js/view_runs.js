/* Prefill against decode: what every run takes in, reads, computes and leaves, drawn and counted.
 *
 * What the trace says is there while the run goes on; what needs the model's sizes (pairs,
 * multiply-adds, weights) comes with the inside. A step asks nothing.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, state, inside } = BOT;

  /** One line on what is not there yet, with the way to it: {node, draw(missing)}. */
  function door() {
    const words = el("p", { role: "status" });
    const go = BOT.say(el("button", { class: "bot-btn", type: "button", on: { click: () => inside.start() } }), "ui.inside.start");
    const stop = BOT.say(el("button", { class: "bot-btn", type: "button", on: { click: () => inside.stop() } }), "ui.inside.stop");
    const node = el("div", { class: "bot-note bot-runs-door", hidden: true }, words, go, stop);
    return {
      node,
      draw(why) {
        const { phase, told, error } = inside.now;
        node.hidden = why === null && phase === "ready";
        const says = phase === "ready" ? why
          : phase === "failed" ? BOT.pick(error.text) || BOT.t("ui.inside.failed")
            : phase === "running" ? BOT.workSays(told)
              : BOT.t(phase === "later" ? "panel.runs.later" : "panel.runs.none");
        BOT.setText(words, says || "");
        go.hidden = phase !== "none" && phase !== "failed";
        stop.hidden = phase !== "running";
      },
    };
  }

  BOT.panel({
    id: "runs", deck: "cost", stage: 5,
    mount(body, ctx) {
      const gate = door();
      const picture = BOT.runPicture();
      const table = BOT.runTable();
      const chart = BOT.runChart(ctx.go);
      const totals = BOT.runTotals();
      const again = BOT.runAgain(() => {
        dirty = true;
        BOT.schedule();
      });
      const bound = el("p");
      const measured = el("p");
      const sums = el("h4", { class: "bot-run-title" });
      const fold = BOT.foldRows({
        label: "panel.runs.all", row: line, go: ctx.go,
        columns: [["run", "4rem"], ["token", "8rem"], ["fresh", "5.5rem"], ["kept", "9rem"], ["pairs", "8rem"], ["macs", "8rem"], ["whole", "11rem"], ["cache", "7rem"], ["ms", "5.5rem"], ["again", "8rem"], ["gap", "7rem"]]
          .map(([name, width]) => ({ key: `panel.runs.col.${name}`, width, class: name === "token" ? "bot-mono" : "bot-n" })),
      });
      body.append(gate.node, picture.node,
        el("div", { class: "bot-runs-compare" }, table.node,
          el("div", { class: "bot-runs-words" }, BOT.say(el("h4", { class: "bot-run-title" }), "panel.runs.bound_title"), bound, measured)),
        chart.node,
        el("div", { class: "bot-runs-sums" }, sums, totals.node, again.node), fold.node);

      let counts = null;
      let of = {}; // what `counts` was made of
      let dirty = true;
      let seen = [];

      const usable = () => (inside.now.phase === "ready" && inside.now.id === state.trace.id ? inside.now.data : null);

      /** The cells of run i in the long table. */
      function line(i) {
        const run = counts.run(i);
        const found = again.result(of.data);
        const exact = (n) => (n === null ? "–" : { text: BOT.count(n), title: BOT.num(n) });
        return [BOT.num(i + 1), { hex: run.step.tok.hex }, BOT.num(run.fresh), BOT.num(run.held), exact(run.pairs), exact(run.macs), exact(counts.whole(i)),
          { text: BOT.bytes(run.after), title: `${BOT.num(run.after)} B` }, { text: BOT.ms(run.ms), title: String(run.ms) },
          found ? { text: BOT.ms(found.ms.data[i]), title: String(found.ms.data[i]) } : "–",
          found ? { text: BOT.sig(found.logits_gap.data[i]), title: BOT.exact(found.logits_gap.data[i], true) } : "–"];
      }

      /** What does not depend on the step: counts, bars, sums. */
      function layout() {
        const { trace } = state;
        const data = usable();
        if (of.trace !== trace || of.data !== data || of.n !== trace.steps.length) {
          of = { trace, data, n: trace.steps.length };
          counts = BOT.counting(trace, data);
        }
        gate.draw(data && !counts.known ? (data.weights ? inside.missing(data, "heads") : null) || BOT.t("panel.runs.no_weights") : null);
        again.draw(data);
        const found = again.result(data);
        const each = (value) => trace.steps.map((_, i) => value(i));
        chart.set({
          macs: { with: each((i) => counts.run(i).macs), without: counts.known ? each(counts.whole) : null },
          ms: { with: trace.steps.map((step) => step.ms[0]), without: found ? [...found.ms.data] : null },
        });
        sum(trace, found);
      }

      function sum(trace, found) {
        const n = trace.steps.length;
        const all = counts.totals(n);
        BOT.setText(sums, BOT.t("panel.runs.sums", { n: BOT.num(n) }));
        const bar = (how, part, ratio) => ({
          name: BOT.t(`panel.runs.sum.${how}`), hollow: how === "without", unit: "work", value: part.macs === null ? part.positions : part.macs,
          exact: part.macs === null ? null : BOT.num(part.macs),
          text: [BOT.t("panel.runs.sum.positions", { n: BOT.num(part.positions) }), part.macs === null ? null : BOT.t("panel.runs.sum.macs", { n: BOT.count(part.macs) }),
            ratio ? BOT.t("panel.runs.sum.times", { n: BOT.sig(ratio) }) : null].filter(Boolean).join(" · "),
        });
        const ratio = all.with.macs ? all.without.macs / all.with.macs : all.without.positions / all.with.positions;
        const lines = [bar("with", all.with), bar("without", all.without, n > 1 ? ratio : null)];
        if (found) {
          const total = (values) => values.reduce((a, b) => a + b, 0);
          const [a, b] = [total(trace.steps.map((step) => step.ms[0])), total([...found.ms.data])];
          for (const [how, ms, times] of [["with", a, null], ["without", b, b / a]]) {
            lines.push({ name: BOT.t(`panel.runs.sum.measured_${how}`), hollow: how === "without", unit: "ms", value: ms, exact: `${ms} ms`,
              text: times ? `${BOT.ms(ms)} · ${BOT.t("panel.runs.sum.times", { n: BOT.sig(times) })}` : BOT.ms(ms) });
          }
        }
        totals.draw(n ? lines : []);
      }

      function words(trace) {
        const [first, later] = [counts.run(0), counts.run(state.i > 0 ? state.i : 1)];
        const values = { n: BOT.num(counts.T), run: BOT.num(later.i + 1), prefill: BOT.sig(first.perByte), decode: BOT.sig(later.perByte) };
        BOT.setText(bound, BOT.t(counts.known ? "panel.runs.bound" : "panel.runs.bound_plain", values));
        const timed = counts.known && first.ms && later.ms && trace.steps.length > 1;
        measured.hidden = !timed;
        if (!timed) return;
        BOT.setText(measured, BOT.t("panel.runs.bound_measured", {
          run: BOT.num(later.i + 1), prefill_macs: BOT.count((1000 * first.macs) / first.ms), prefill_bytes: BOT.bytes((1000 * first.bytes) / first.ms),
          decode_macs: BOT.count((1000 * later.macs) / later.ms), decode_bytes: BOT.bytes((1000 * later.bytes) / later.ms),
        }));
      }

      function draw() {
        dirty = false;
        layout();
        step(state.i, true);
      }

      function step(i, fresh = false) {
        if (dirty) return draw();
        const { trace } = state;
        picture.draw(counts, trace, i);
        table.draw(counts, trace, i);
        chart.draw(i);
        words(trace);
        fold.draw(trace.steps.length, i, fresh);
      }

      const mark = () => { dirty = true; };
      return {
        trace: mark, append: mark, end: mark,
        step: (i) => step(i),
        lang() { dirty = true; },
        refresh() {
          inside.want();
          const { phase, told, data, error } = inside.now;
          const next = [phase, told, data, error];
          if (next.some((part, k) => part !== seen[k])) dirty = true;
          seen = next;
          if (dirty && state.trace) draw();
        },
      };
    },
  });
})();

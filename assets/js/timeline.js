/* One mark per run: how sure the model was, what it took, how the cache grew.
 *
 * Each lane is one SVG path in units of runs, so a thousand runs are as many nodes as nine; a step
 * only moves the cursor. A hollow bar is a token that was not the model's first choice.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, svg, state } = BOT;

  const LABELS = 24; // with up to so many places each run has its token's name below it
  const DENSE = 200; // with more places than that a hollow bar would be all outline
  const TICKS = [1, 2, 5];

  const most = (values, least) => values.reduce((a, b) => (b > a ? b : a), least);
  const chance = (step) => Math.exp(step.logprob); // exp(null) is 1: see below
  /** The chosen token's probability; a log-probability of -inf travels as null. */
  const prob = (step) => (step.logprob === null ? 0 : chance(step));

  const bar = (k, low, high, wide) => `M${k + 0.5 - wide / 2} ${low}V${high}h${wide}V${low}z`;

  /** A step line through values (0 … 1 of the lane's height). */
  const stairs = (values) => values.map((v, k) => `${k ? "L" : "M"}${k} ${v}H${k + 1}`).join("");

  /** The lanes: draw(steps, wide, lane) gives {path class: d} and the text at the lane's top. */
  const LANES = [
    {
      id: "prob", key: "panel.timeline.prob", hint: "panel.timeline.prob.hint",
      value: (s) => BOT.prob(prob(s)), exact: (s) => String(prob(s)),
      draw(steps, wide) {
        const d = { full: "", hollow: "" };
        steps.forEach((s, k) => { d[s.rank === 1 ? "full" : "hollow"] += bar(k, 0, prob(s), wide); });
        return { d, top: "100%" };
      },
    },
    {
      id: "entropy", key: "panel.timeline.entropy", hint: "panel.timeline.entropy.hint",
      value: (s) => BOT.t("panel.timeline.bits", { n: BOT.sig(s.entropy) }), exact: (s) => String(s.entropy),
      draw(steps) {
        const top = Math.ceil(most(steps.map((s) => s.entropy), 1));
        const line = stairs(steps.map((s) => s.entropy / top));
        return { d: { line, area: steps.length ? `${line}V0H0z` : "" }, top: BOT.t("panel.timeline.bits", { n: top }) };
      },
    },
    {
      id: "rank", key: "panel.timeline.rank", hint: "panel.timeline.rank.hint",
      value: (s) => BOT.num(s.rank), exact: (s) => String(s.rank),
      draw(steps) {
        const top = 10 ** Math.ceil(Math.log10(most(steps.map((s) => s.rank), 10)));
        const high = (s) => 0.12 + 0.76 * (Math.log(s.rank) / Math.log(top));
        return { d: { dots: steps.map((s, k) => `M${k + 0.5} ${high(s)}h0`).join("") }, top: BOT.num(top) };
      },
    },
    {
      id: "time", key: "panel.timeline.time", hint: "panel.timeline.time.hint",
      value: (s) => BOT.t("panel.timeline.forward_pick", { forward: BOT.ms(s.ms[0]), pick: BOT.ms(s.ms[1]) }),
      exact: (s) => `${s.ms[0]} ms + ${s.ms[1]} ms`,
      draw(steps, wide) {
        const decode = steps.filter((s) => s.phase !== "prefill").map((s) => s.ms[0] + s.ms[1]);
        const top = most(decode, 0) || most(steps.map((s) => s.ms[0] + s.ms[1]), 1);
        const d = { full: "", pick: "", hollow: "" };
        steps.forEach((s, k) => {
          const forward = s.ms[0] / top;
          if (s.phase === "prefill") {
            // It ran over the whole prompt: where it is longer than all others its bar is broken.
            const high = (s.ms[0] + s.ms[1]) / top;
            d.hollow += high > 1 ? bar(k, 0, 0.7, wide) + bar(k, 0.78, 1, wide) : bar(k, 0, high, wide);
          } else {
            d.full += bar(k, 0, forward, wide);
            d.pick += bar(k, forward, forward + s.ms[1] / top, wide);
          }
        });
        return { d, top: BOT.ms(top) };
      },
    },
    {
      id: "cache", key: "panel.timeline.cache", hint: "panel.timeline.cache.hint",
      value: (s) => BOT.t("panel.timeline.positions", { n: BOT.num(s.cache[1]), bytes: BOT.bytes(s.cache[2]) }),
      exact: (s) => `${s.cache[1]} · ${s.cache[2]} B`,
      draw(steps) {
        const top = most(steps.map((s) => s.cache[1]), 1);
        const line = stairs(steps.map((s) => s.cache[1] / top));
        return { d: { line, area: steps.length ? `${line}V0H0z` : "" }, top: BOT.t("panel.timeline.positions_only", { n: BOT.num(top) }) };
      },
    },
  ];

  const COLUMNS = [
    ["run", "4rem", "bot-n"], ["phase", "5.5rem", ""], ["token", "9rem", "bot-mono"], ["id", "5.5rem", "bot-n"],
    ["p", "6.5rem", "bot-n"], ["logprob", "6.5rem", "bot-n"], ["entropy", "6rem", "bot-n"], ["rank", "5rem", "bot-n"],
    ["draw", "6rem", "bot-n"], ["forward", "6rem", "bot-n"], ["pick", "6rem", "bot-n"], ["positions", "6.5rem", "bot-n"],
    ["bytes", "6.5rem", "bot-n"], ["scores", "9rem", "bot-n"],
  ];
  const COLUMN_KEYS = {
    run: "panel.timeline.col.run", phase: "panel.timeline.col.phase", token: "panel.timeline.col.token",
    id: "panel.timeline.col.id", p: "panel.timeline.col.p", logprob: "panel.timeline.col.logprob",
    entropy: "panel.timeline.col.entropy", rank: "panel.timeline.col.rank", draw: "panel.timeline.col.draw",
    forward: "panel.timeline.col.forward", pick: "panel.timeline.col.pick",
    positions: "panel.timeline.col.positions", bytes: "panel.timeline.col.bytes",
    scores: "panel.timeline.col.scores",
  };
  const PHASES = { prefill: "ui.phase.prefill", decode: "ui.phase.decode", forced: "ui.phase.forced" };

  /** Places on the axis: all runs of a finished trace; a running one grows by doubling. */
  function placesFor(trace) {
    const n = trace.steps.length;
    if (trace.finish) return Math.max(n, 8);
    let places = 16;
    while (places < n) places *= 2;
    return places;
  }

  BOT.panel({
    id: "timeline", stage: 5,
    mount(body, ctx) {
      const facts = ["first", "visible", "rate", "prefill", "scores"].map((name) => {
        const value = el("dd");
        const key = { first: "panel.timeline.first", visible: "panel.timeline.visible", rate: "panel.timeline.rate", prefill: "panel.timeline.prefill", scores: "panel.timeline.scores" }[name];
        return { name, value, node: el("div", null, BOT.say(el("dt"), key), value) };
      });
      const lanes = LANES.map((lane, k) => {
        const paths = {};
        const drawing = svg("svg", { class: "bot-lane-svg", preserveAspectRatio: "none", "aria-hidden": "true" });
        const upright = svg("g", { transform: "matrix(1 0 0 -1 0 1)" });
        drawing.append(upright);
        for (const kind of ["area", "line", "full", "pick", "hollow", "dots"]) {
          paths[kind] = svg("path", { class: `bot-lane-${kind}` });
          upright.append(paths[kind]);
        }
        const top = el("span", { class: "bot-lane-top", "aria-hidden": "true" });
        const value = el("span", { class: "bot-lane-value" });
        const label = el("div", { class: "bot-lane-label", style: { "--lane": k } }, BOT.say(el("span", { class: "bot-lane-name" }), lane.key),
          value, BOT.say(el("span", { class: "bot-lane-hint" }), lane.hint));
        return { lane, paths, drawing, top, value, parts: [label, el("div", { class: `bot-lane bot-lane-of-${lane.id}`, style: { "--lane": k } }, drawing, top)] };
      });
      const tip = el("div", { class: "bot-tl-tip", hidden: true, "aria-hidden": "true" });
      const over = BOT.say(el("div", { class: "bot-tl-over", tabindex: 0, role: "slider", on: {
        click: (event) => ctx.go(placeOf(event)),
        pointermove: hover,
        pointerleave: () => {
          tip.hidden = true;
          chart.style.setProperty("--ghost", "-1");
        },
      } }, tip), "panel.timeline.chart", "aria-label");
      const axis = el("div", { class: "bot-tl-axis", "aria-hidden": "true" });
      const names = Array.from({ length: LABELS }, () => el("span", { hidden: true }));
      axis.append(...names);
      const table = BOT.rows({
        label: "panel.timeline.table",
        columns: COLUMNS.map(([id, width, c]) => ({ key: COLUMN_KEYS[id], width, class: c })),
        draw: row, go: ctx.go,
      });
      const more = el("details", { class: "bot-more", on: { toggle: () => more.open && fillTable() } },
        BOT.say(el("summary"), "panel.timeline.table"), table.node);
      const chart = el("div", { class: "bot-tl" }, lanes.map((l) => l.parts), over, axis);
      body.append(el("dl", { class: "bot-facts" }, facts.map((f) => f.node)), chart, more);

      let places = 8;

      function placeOf(event) {
        const box = over.getBoundingClientRect();
        const k = Math.floor(((event.clientX - box.left) / box.width) * places);
        return Math.max(0, Math.min(state.trace.steps.length - 1, k));
      }

      function hover(event) {
        if (!state.trace || !state.trace.steps.length) return;
        const k = placeOf(event);
        const step = state.trace.steps[k];
        tip.hidden = false;
        chart.style.setProperty("--ghost", String((k + 0.5) / places));
        tip.classList.toggle("is-left", k > places / 2);
        BOT.setText(tip, BOT.t("panel.timeline.tip", { i: k + 1, token: BOT.tokenText(step.tok.hex), p: BOT.prob(prob(step)), rank: BOT.num(step.rank) }));
      }

      function draw() {
        const { trace } = state;
        if (!trace) return;
        const { steps } = trace;
        places = placesFor(trace);
        const wide = places > LABELS ? 0.8 : 0.5;
        chart.classList.toggle("is-dense", places > DENSE);
        for (const { lane, paths, drawing, top } of lanes) {
          const { d, top: text } = lane.draw(steps, wide);
          BOT.setAttr(drawing, "viewBox", `0 0 ${places} 1`);
          for (const [kind, path] of Object.entries(paths)) BOT.setAttr(path, "d", d[kind] || "");
          BOT.setText(top, text);
        }
        BOT.setAttr(over, "aria-valuemin", 0);
        BOT.setAttr(over, "aria-valuemax", steps.length);
        chart.style.setProperty("--wide", String(1 / places));
        ticks(steps);
        numbers(trace);
        fillTable();
      }

      function ticks(steps) {
        let every = 1;
        for (let k = 0; places / every > LABELS; k++) every = TICKS[k % 3] * 10 ** Math.floor(k / 3);
        names.forEach((node, k) => {
          const run = every === 1 ? k + 1 : (k + 1) * every;
          node.hidden = run > places || run > Math.max(steps.length, 1);
          if (node.hidden) return;
          node.style.setProperty("--x", String((run - 0.5) / places));
          node.style.setProperty("--room", String(every / places));
          BOT.setText(node, every === 1 ? BOT.tokenText(steps[run - 1] ? steps[run - 1].tok.hex : "") : BOT.num(run));
        });
      }

      function numbers(trace) {
        const prefill = trace.steps[0];
        const text = {
          first: BOT.ms(trace.first_token_ms), visible: BOT.ms(trace.first_visible_ms),
          rate: trace.tokens_per_second ? BOT.t("panel.timeline.per_second", { n: BOT.sig(trace.tokens_per_second) }) : "–",
          prefill: prefill ? BOT.t("panel.timeline.prefill_value", { ms: BOT.ms(prefill.ms[0]), n: BOT.num(trace.prompt.length) }) : "–",
          scores: BOT.num((state.i + 1) * trace.model.vocab_rows),
        };
        for (const { name, value } of facts) BOT.setText(value, text[name]);
      }

      function row(cells, i) {
        const { trace } = state;
        const s = trace.steps[i];
        const values = [BOT.num(i + 1), BOT.t(PHASES[s.phase]), BOT.tokenText(s.tok.hex), s.tok.id, BOT.prob(prob(s)),
          s.logprob === null ? "−∞" : BOT.sig(s.logprob, 4), BOT.sig(s.entropy), BOT.num(s.rank),
          s.draw === null ? "–" : BOT.sig(s.draw, 4), BOT.ms(s.ms[0]), BOT.ms(s.ms[1]), BOT.num(s.cache[1]),
          BOT.bytes(s.cache[2]), BOT.num((i + 1) * trace.model.vocab_rows)];
        const exact = [i + 1, s.phase, BOT.hex(s.tok.hex), s.tok.id, prob(s), s.logprob, s.entropy, s.rank, s.draw,
          s.ms[0], s.ms[1], s.cache[1], s.cache[2], (i + 1) * trace.model.vocab_rows];
        cells.forEach((cell, k) => {
          BOT.setText(cell, String(values[k]));
          cell.title = exact[k] === null ? "" : String(exact[k]);
        });
      }

      function fillTable() {
        if (!more.open || !state.trace) return;
        table.set(state.trace.steps.length);
        table.redraw();
        table.current(state.i);
      }

      function step(i) {
        const { trace } = state;
        const s = trace.steps[i];
        chart.style.setProperty("--at", String(s ? (i + 0.5) / places : -1));
        for (const { lane, value } of lanes) {
          BOT.setText(value, s ? lane.value(s) : "–");
          BOT.setAttr(value, "title", s ? lane.exact(s) : null);
        }
        BOT.setAttr(over, "aria-valuenow", i + 1);
        BOT.setAttr(over, "aria-valuetext", s ? BOT.t("panel.timeline.tip", { i: i + 1, token: BOT.tokenText(s.tok.hex), p: BOT.prob(prob(s)), rank: BOT.num(s.rank) }) : BOT.t("ui.step_of", { i: 0, n: trace.steps.length }));
        numbers(trace);
        if (more.open) table.current(i);
      }

      const lang = () => {
        draw();
        if (state.trace) step(state.i);
      };
      return { trace: draw, append: draw, end: draw, step, lang };
    },
  });
})();

/* The last vector, the norm, the table, and the scores it gives. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const FIRST = 7; // candidates shown, and the chosen one where it is not among them

  const euclid = (values) => Math.sqrt(values.reduce((sum, x) => sum + x * x, 0));
  const isolated = (text) => `\u2068${text}\u2069`;

  BOT.insidePanel({
    id: "lm_head", stage: 3, deck: "inside",
    mount(body, ctx) {
      let data = null;
      const check = BOT.dotCheck(ctx, () => drawLines());

      /* ---- nodes ---- */

      const stops = ["final", "normed", "head", "scores"].map((name) => {
        const label = el("dt");
        if (name !== "normed") BOT.say(label, `panel.lm_head.flow.${name}`);
        return { name, label, says: el("dd") };
      });
      const flow = BOT.say(el("dl", { class: "bot-flowline" }, stops.map(({ label, says }) => el("div", null, label, says))), "panel.lm_head.flow", "aria-label");
      const lines = BOT.vectorLines(4, "panel.lm_head.lines.label", readDimension);
      const histogram = BOT.scoreHistogram(FIRST + 1);
      const title = el("h4", { class: "bot-head-title" });
      const crowd = el("p", { class: "bot-facts-line" });
      const capped = el("p", { class: "bot-note bot-note-info", hidden: true });
      const infinite = el("p", { class: "bot-hint", hidden: true });
      const recorded = el("p", { class: "bot-hint" });
      const before = BOT.say(el("p", { class: "bot-note bot-note-info", hidden: true }), "panel.lm_head.before");
      const column = (name) => ({ key: `panel.lm_head.col.${name}`, class: "bot-n" });
      const bins = BOT.fold({ label: "panel.lm_head.bins", columns: ["low", "high", "count"].map(column), rows: binRows });
      const numbers = BOT.fold({ label: "panel.lm_head.numbers", columns: ["dimension", "final", "normed"].map(column), rows: numberRows });
      const content = el("div", { class: "bot-head" }, flow,
        el("div", { class: "bot-head-lines" }, lines.node, BOT.say(el("p", { class: "bot-hint" }), "panel.lm_head.lines.hint")),
        el("div", { class: "bot-head-scores" },
          el("div", { class: "bot-head-chart" }, title, histogram.node, BOT.say(el("p", { class: "bot-hint" }), "panel.lm_head.legend")),
          el("div", { class: "bot-head-side" }, crowd, capped, check.node, recorded, infinite)),
        BOT.say(el("p", { class: "bot-facts-line" }), "panel.lm_head.only"), el("div", null, bins.node, numbers.node));
      body.append(before, content);

      /* ---- what is shown ---- */

      const step = () => ctx.trace.steps[ctx.i];
      const text = (hex) => isolated(hex ? BOT.tokenText(hex) : "∅");

      /** The first candidates and the chosen one: [{rank, id, hex, score, chosen}]. */
      function candidates() {
        const { ids, tok, rank } = step();
        const hexes = BOT.hexes(step());
        const { logits } = BOT.arrays(step());
        const own = ids.indexOf(tok.id);
        const places = [...ids.keys()].slice(0, FIRST);
        if (own >= FIRST) places.push(own);
        return places.map((k) => ({ rank: k === own ? rank : k + 1, id: ids[k], hex: hexes[k], score: logits[k], chosen: k === own }));
      }

      const lineName = (name) => BOT.t(`panel.lm_head.lines.${name}`, { token: name === "row" ? text(check.found().candidate.hex) : "" });

      function readDimension(k) {
        if (!data || ctx.i < 0) return "";
        const found = check.found();
        const values = { final: data.stream.final.at(ctx.i, k), normed: data.stream.normed.at(ctx.i, k) };
        if (found) Object.assign(values, { row: found.row[k], product: found.products[k] });
        const says = Object.entries(values).map(([name, x]) => `${lineName(name)} ${BOT.sig(x, 4)}`);
        return BOT.t("panel.lm_head.lines.read", { k: BOT.num(k), values: says.join(" · ") });
      }

      function drawLines() {
        if (!data || ctx.i < 0) return;
        const found = check.found();
        lines.set(0, data.stream.final.row(ctx.i), lineName("final"));
        lines.set(1, data.stream.normed.row(ctx.i), lineName("normed"));
        lines.set(2, found && found.row, found && lineName("row"));
        lines.set(3, found && found.products, lineName("product"));
        lines.draw();
      }

      function drawFlow(low, high) {
        const { model, stream, n_prompt: n } = data;
        const { i } = ctx;
        const position = n - 1 + i;
        const says = {
          final: BOT.t("panel.lm_head.flow.final_sub", { p: BOT.num(position), token: text(BOT.inside.token(data, position).hex), d: BOT.num(model.d_model), norm: BOT.sig(euclid(stream.final.row(i)), 4) }),
          normed: BOT.t("panel.lm_head.flow.normed_sub", { d: BOT.num(model.d_model), norm: BOT.sig(euclid(stream.normed.row(i)), 4) }),
          head: BOT.t(model.tied ? "panel.lm_head.flow.head_tied" : "panel.lm_head.flow.head_own", { v: BOT.num(model.vocab_rows), d: BOT.num(model.d_model) }),
          scores: BOT.t("panel.lm_head.flow.scores_sub", { v: BOT.num(model.vocab_rows), low: BOT.sig(low, 3), high: BOT.sig(high, 3) }),
        };
        for (const stop of stops) BOT.setText(stop.says, says[stop.name]);
        BOT.setText(stops[1].label, BOT.t("panel.lm_head.flow.normed", { kind: model.norm }));
      }

      function drawScores(list) {
        const { edges, counts } = data.histogram;
        const { i } = ctx;
        const shown = histogram.set(edges.row(i), counts.row(i), list.map((c) => ({ score: c.score, chosen: c.chosen, text: `${c.rank}  ${isolated(text(c.hex))}` })));
        const own = list.find((c) => c.chosen);
        const higher = data.lens.rank.at(data.lens.rank.shape[0] - 1, i) - 1;
        const score = own ? own.score : data.attribution ? data.attribution.capped.at(i) : null;
        BOT.setText(crowd, BOT.t(higher ? "panel.lm_head.crowd" : "panel.lm_head.crowd_first", { half: BOT.sig(shown.half, 3), score: BOT.sig(score, 4), n: BOT.num(higher) }));
        const lost = data.model.vocab_rows - counts.row(i).reduce((sum, n) => sum + n, 0);
        infinite.hidden = lost === 0;
        BOT.setText(infinite, lost ? BOT.t("panel.lm_head.infinite", { n: BOT.num(lost) }) : "");
        const cap = data.attribution && data.attribution.cap;
        capped.hidden = !cap;
        BOT.setText(capped, cap ? BOT.t("panel.lm_head.capped", { cap: BOT.sig(cap, 3), raw: BOT.sig(data.attribution.logit.at(i), 5), capped: BOT.sig(data.attribution.capped.at(i), 5) }) : "");
        BOT.setText(recorded, BOT.t("panel.lm_head.recorded", { gap: BOT.sig(data.gaps.logits.at(i), 2) }));
      }

      function show() {
        const none = ctx.i < 0;
        before.hidden = !none;
        content.hidden = none;
        if (none || !data) return;
        const list = candidates();
        const { edges } = data.histogram;
        check.step(data, list);
        drawFlow(edges.at(ctx.i, 0), edges.at(ctx.i, edges.shape[1] - 1));
        drawLines();
        drawScores(list);
        bins.draw();
        numbers.draw();
      }

      const exactly = (x) => ({ text: BOT.sig(x, 5), title: BOT.exact(x, true) });

      function binRows() {
        if (ctx.i < 0) return [];
        const [edges, counts] = [data.histogram.edges.row(ctx.i), data.histogram.counts.row(ctx.i)];
        return [...counts].map((n, k) => [exactly(edges[k]), exactly(edges[k + 1]), BOT.num(n)]);
      }

      function numberRows() {
        if (ctx.i < 0) return [];
        const [final, normed] = [data.stream.final.row(ctx.i), data.stream.normed.row(ctx.i)];
        return [...final].map((x, k) => [BOT.num(k), exactly(x), exactly(normed[k])]);
      }

      const heading = () => BOT.setText(title, BOT.t("panel.lm_head.chart", { v: BOT.num(data.model.vocab_rows) }));

      return {
        inside(next) {
          data = next;
          const { edges, counts } = data.histogram;
          histogram.axes(Math.min(...edges.data), Math.max(...edges.data), Math.max(...counts.data));
          heading();
        },
        step: show,
        lang() {
          heading();
          check.lang();
          show();
        },
      };
    },
  });
})();

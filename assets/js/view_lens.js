/* What every layer would answer: a map of layers × steps, and the guesses of the step on screen as a
 * list whose rows lie beside the map's.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const KINDS = ["prob", "rank", "entropy"];
  const TALL = 22; // px, a row of the map and of the list

  BOT.insidePanel({
    id: "lens", stage: 3, deck: "inside",
    mount(body, ctx) {
      let data = null;
      let kind = "prob";
      let looked = 0; // the row that was read out last

      /* ---- what a cell says ---- */

      const layers = () => data.lens.layers.data;
      const last = () => layers().length - 1;
      const vocabulary = () => data.model.vocab_rows;
      const guessed = (r, i, k = 0) => BOT.idText(data, data.lens.ids.at(r, i, k));
      const chosen = (i) => BOT.idText(data, data.chosen.at(i));
      const isolated = (text) => `\u2068${text}\u2069`; // other scripts keep their direction to themselves

      function read(r, i) {
        looked = r;
        const { lens } = data;
        return BOT.t("panel.lens.read", {
          step: BOT.num(i + 1), r: layers()[r], n: data.model.n_layers,
          guess: isolated(guessed(r, i)), p: BOT.prob(lens.probs.at(r, i, 0)),
          chosen: isolated(chosen(i)), q: BOT.prob(lens.prob.at(r, i)), rank: BOT.num(lens.rank.at(r, i)),
          bits: BOT.sig(lens.entropy_bits.at(r, i), 3),
        });
      }

      const shades = {
        prob: () => ({ value: (r, i) => data.lens.prob.at(r, i), most: 1 }),
        // by orders of magnitude: from 40,000 to 4,000 is as far as from 10 to 1
        rank: () => ({ value: (r, i) => Math.log(vocabulary() / data.lens.rank.at(r, i)), most: Math.log(vocabulary()) }),
        entropy: () => ({ value: (r, i) => data.lens.entropy_bits.at(r, i), most: Math.log2(vocabulary()) }),
      };
      const legends = {
        prob: () => ["0%", "100%"],
        rank: () => [vocabulary(), 1].map((n) => BOT.t("panel.lens.legend.rank", { n: BOT.num(n) })),
        entropy: () => [0, Math.log2(vocabulary())].map((x) => BOT.t("panel.lens.legend.bits", { x: BOT.sig(x, 3) })),
      };

      /* ---- nodes ---- */

      const heat = BOT.heat({
        label: "panel.lens.map", read, tall: TALL, least: 7, gutter: 30,
        pick: (r, i) => ctx.go(i),
        rowName: (r) => String(layers()[r]),
        colName: chosen,
        legend: () => (data ? legends[kind]() : ["", ""]),
      });
      const stairs = BOT.lensStairs(heat, TALL, 30);
      const tabs = KINDS.map((name) => BOT.say(el("button", { type: "button", "aria-pressed": String(name === kind), on: { click: () => choose(name) } }), `panel.lens.kind.${name}`));
      const about = el("p", { class: "bot-hint" });
      const axes = el("p", { class: "bot-hint" });
      const list = BOT.lensList(TALL);
      const heading = el("span");
      const token = el("bdi", { class: "bot-tok" });
      const settled = el("p", { class: "bot-lens-says" });
      const note = el("p", { class: "bot-note bot-note-info", hidden: true });
      const lacking = el("p", { class: "bot-note bot-note-warn", hidden: true });
      const lastRow = el("p", { class: "bot-facts-line" });
      const column = (name, number = true) => ({ key: `panel.lens.col.${name}`, class: number ? "bot-n" : "bot-lens-guesses" });
      const fold = BOT.fold({
        label: "panel.lens.table",
        columns: [column("layer"), column("guesses", false), column("chosen_p"), column("logprob"), column("rank"), column("entropy")],
        rows: table,
        mark: () => (data.lens.settled ? layers().indexOf(data.lens.settled.at(ctx.i)) : -1),
      });
      body.append(lacking,
        el("div", { class: "bot-lens", style: { "--tall": `${TALL}px` } },
          el("div", { class: "bot-lens-head" },
            el("div", { class: "bot-tabs", role: "group" }, BOT.say(el("span", { class: "bot-label" }), "panel.lens.kind"), tabs), about),
          el("div", { class: "bot-lens-map" }, heat.node, axes),
          el("div", { class: "bot-lens-head bot-lens-step" }, el("p", { class: "bot-lens-title" }, heading, " ", token), settled),
          el("div", { class: "bot-lens-side" }, list.node, note,
            lastRow, BOT.say(el("p", { class: "bot-hint" }), "panel.lens.honest"))),
        fold.node);

      /* ---- drawing ---- */

      function choose(name) {
        kind = name;
        tabs.forEach((tab, k) => BOT.setAttr(tab, "aria-pressed", KINDS[k] === name));
        paint();
      }

      function paint() {
        if (!data) return;
        BOT.setText(about, BOT.t(`panel.lens.about.${kind}`));
        heat.set({ rows: layers().length, cols: data.chosen.shape[0], ...shades[kind]() });
        stairs.set(data.lens);
      }

      function words() {
        const n = data.model.n_layers;
        const missing = data.missing.some((m) => m.part === "lens") ? BOT.inside.missing(data, "lens") : null;
        lacking.hidden = missing === null;
        BOT.setText(lacking, missing || "");
        BOT.setText(axes, BOT.t(data.lens.settled ? "panel.lens.axes" : "panel.lens.axes_plain", { n }));
        const { head } = data.gaps;
        BOT.setText(lastRow, BOT.t(head === 0 ? "panel.lens.last_equal" : "panel.lens.last", { gap: BOT.sig(head, 2) }));
        BOT.setAttr(lastRow, "title", BOT.exact(data.gaps.head, true));
      }

      /** From where on the chosen token stays first, in words. */
      function verdict(i) {
        const { lens, model } = data;
        const says = isolated(chosen(i));
        if (lens.rank.at(last(), i) !== 1) {
          const end = BOT.t("panel.lens.settled_never", { token: says, rank: BOT.num(lens.rank.at(last(), i)), p: BOT.prob(lens.prob.at(last(), i)) });
          return ctx.trace.steps[i].draw === null ? end : `${end} ${BOT.t("panel.lens.drawn")}`;
        }
        if (!lens.settled) return BOT.t("panel.lens.settled_unknown");
        const r = lens.settled.at(i);
        return r === 0 ? BOT.t("panel.lens.settled_start", { token: says })
          : BOT.t("panel.lens.settled", { token: says, layer: r - 1, r, n: model.n_layers });
      }

      /** Whether the embedding alone gives back the token that was just read. */
      function echoes(i) {
        const { lens, model, n_prompt: n } = data;
        return model.tied && layers()[0] === 0 && lens.ids.at(0, i, 0) === data.ids.at(n - 1 + i);
      }

      function step(i) {
        const none = i < 0;
        note.hidden = !none;
        // the map first: it asks for styles, which is dear once the list has been written
        if (!none) heat.cursor(document.activeElement === heat.canvas ? looked : last(), i);
        heat.mark({ col: none ? undefined : i });
        list.node.hidden = settled.hidden = heading.parentNode.hidden = fold.node.hidden = none;
        if (none) return BOT.setText(note, BOT.t("panel.lens.before"));
        BOT.setText(heading, BOT.t("panel.lens.step", { step: BOT.num(i + 1), n: BOT.num(data.chosen.shape[0]) }));
        BOT.setText(token, chosen(i));
        BOT.setText(settled, echoes(i) ? `${BOT.t("panel.lens.echo")} ${verdict(i)}` : verdict(i));
        list.step(data, i);
        stairs.show(i);
        fold.draw();
      }

      function table() {
        const { lens } = data;
        const { i } = ctx;
        if (i < 0) return [];
        return [...layers()].map((r, k) => [
          r,
          Array.from({ length: lens.ids.shape[2] }, (_, n) => `${isolated(guessed(k, i, n))} ${BOT.prob(lens.probs.at(k, i, n))}`).join("   "),
          { text: BOT.prob(lens.prob.at(k, i)), title: BOT.exact(lens.prob.at(k, i), true) },
          { text: BOT.sig(lens.logprob.at(k, i), 4), title: BOT.exact(lens.logprob.at(k, i), true) },
          BOT.num(lens.rank.at(k, i)),
          { text: BOT.sig(lens.entropy_bits.at(k, i), 4), title: BOT.exact(lens.entropy_bits.at(k, i), true) },
        ]);
      }

      return {
        inside(next) {
          data = next;
          words();
          paint();
        },
        step,
        lang() {
          words();
          paint();
          step(ctx.i);
        },
      };
    },
  });
})();

/* Where a token stands, and how the model gets to know: turned queries and keys, or added rows. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const isolated = (text) => `\u2068${text}\u2069`;

  BOT.insidePanel({
    id: "position", stage: 3, deck: "inside",
    mount(body, ctx) {
      let data = null;
      let detail = null; // of the head in focus, decoded
      let rotary = null;
      let wanted = ""; // layer and head that were asked for
      let key = null; // the key's position where the reader chose one
      let which = "k";
      let pair = null;
      let names = []; // of the positions, for the dials
      let problem = null; // why there is no detail: {kind, error}

      /* ---- what is chosen ---- */

      const answering = () => data.n_prompt - 1 + Math.max(0, ctx.i);
      const query = () => {
        const asked = ctx.focus.query;
        return asked === null || asked >= data.ids.shape[0] ? answering() : asked;
      };
      /** The key chosen, or the one that the head reads most, but for the first and the query itself. */
      function keyAt() {
        const q = query();
        if (key !== null) return Math.min(key, q);
        const row = detail ? detail.rows.data.indexOf(q) : -1;
        let best = Math.max(0, q - 1);
        if (row < 0) return best;
        for (let k = best - 1; k > 0; k--) if (detail.weights.at(row, k) > detail.weights.at(row, best)) best = k;
        return best;
      }
      const token = (p) => isolated(BOT.tokenText(BOT.inside.token(data, p).hex));

      /* ---- nodes ---- */

      const dial = (name, get, set, title) => BOT.dial({ key: name, get: () => (data ? get() : 0), set, name: title });
      const dials = {
        layer: dial("ui.inside.layer", () => ctx.focus.layer, (layer) => ctx.setFocus({ layer })),
        head: dial("ui.inside.head", () => ctx.focus.head, (head) => ctx.setFocus({ head })),
        query: dial("panel.position.query", query, (p) => ctx.setFocus({ query: p === answering() ? null : p }), (p) => names[p]),
        key: dial("panel.position.key", keyAt, (p) => { key = p; draw(); }, (p) => names[p]),
        pair: dial("panel.position.pair", () => pair || 0, (i) => { pair = i; draw(); }),
      };
      const row = el("span");
      const link = BOT.say(el("button", { class: "bot-btn bot-btn-quiet bot-position-link", type: "button", on: { click: seeRow } }), "panel.position.to_row");
      const note = el("p", { class: "bot-note bot-note-info", role: "status", hidden: true });
      const tabs = ["q", "k"].map((name) => BOT.say(el("button", { type: "button", "aria-pressed": String(name === which), on: { click: () => look(name) } }), `panel.position.${name}`));
      const plane = BOT.pairPlane();
      const clocks = BOT.pairClocks((i) => { pair = i; draw(); });
      const of = el("p", { class: "bot-position-of" });
      const turned = el("p", { class: "bot-position-result" });
      const lengths = el("p", { class: "bot-hint" });
      const clockTitle = el("h5", { class: "bot-position-subtitle" });
      const partial = el("p", { class: "bot-hint", hidden: true });
      const angles = el("p", { class: "bot-hint" });
      const shift = BOT.shiftProof();
      const rows = BOT.positionRows();
      const column = (name) => ({ key: `panel.position.col.${name}`, class: "bot-n" });
      const fold = BOT.fold({
        label: "panel.position.pairs", columns: ["pair", "dims", "theta", "period", "angle", "before", "after"].map(column),
        rows: pairs, mark: () => pair, pick: (i) => { pair = i; draw(); },
      });
      const headDials = el("div", { class: "bot-dials" }, dials.layer.node, dials.head.node, dials.query.node, dials.key.node);
      const turning = el("div", { class: "bot-position-turning", hidden: true },
        el("section", null, BOT.say(el("h4", { class: "bot-position-title" }), "panel.position.turn"),
          el("div", { class: "bot-position-pair" },
            el("div", { class: "bot-position-left" },
              el("div", { class: "bot-tabs", role: "group" }, BOT.say(el("span", { class: "bot-label" }), "panel.position.which"), tabs), of, plane.node),
            el("div", { class: "bot-position-facts" }, dials.pair.node, turned, lengths, clockTitle, clocks.node,
              BOT.say(el("p", { class: "bot-hint" }), "panel.position.clocks_hint"), partial, angles))),
        shift.node, el("div", null, fold.node, shift.fold.node));
      body.append(el("p", { class: "bot-position-row" }, row, " ", link), headDials, note, turning, rows.node,
        BOT.say(el("p", { class: "bot-hint bot-position-counting" }), "panel.position.counting"));

      function seeRow() {
        const { where, index } = BOT.inside.token(data, query());
        ctx.select({ where, index });
        BOT.visit("embedding");
      }

      function look(name) {
        which = name;
        tabs.forEach((tab, k) => BOT.setAttr(tab, "aria-pressed", ["q", "k"][k] === name));
        draw();
      }

      /* ---- the numbers of the pair ---- */

      const position = () => (which === "q" ? query() : keyAt());
      const source = () => (which === "q" ? detail.q_normed || detail.q_raw : detail.k_normed || detail.k_raw);

      function pairOf(i, before, after) {
        const j = i + rotary.z / 2;
        return { dims: [i, j], before: [before[i], before[j]], after: [after[i], after[j]], own: [detail[which].at(position(), i), detail[which].at(position(), j)] };
      }

      function pairs() {
        if (!detail || !rotary) return [];
        const p = position();
        const before = source().row(p);
        const after = rotary.turn(before, p);
        const both = (xs, single) => ({ text: xs.map((x) => BOT.sig(x, 4)).join(", "), title: xs.map((x) => BOT.exact(x, single)).join(", ") });
        return [...rotary.theta].map((theta, i) => {
          const found = pairOf(i, before, after);
          return [i, found.dims.join(", "), { text: BOT.sig(theta, 5), title: BOT.exact(theta) }, BOT.period(theta), BOT.degrees(p * theta).toFixed(1), both(found.before, true), both(found.after, false)];
        });
      }

      /* ---- drawing ---- */

      function drawTurn() {
        const p = position();
        const before = source().row(p);
        const found = pairOf(pair, before, rotary.turn(before, p));
        const theta = rotary.theta[pair];
        const angle = p * theta;
        plane.set({ ...found, angle });
        BOT.setText(of, BOT.t(`panel.position.of_${which}`, { p, token: token(p) }));
        const turns = Math.floor(Math.abs(angle) / (2 * Math.PI));
        BOT.setText(turned, BOT.t("panel.position.turned", { n: turns, i: pair, theta: BOT.sig(theta, 3), p, angle: BOT.sig(angle, 4), turns: BOT.num(turns), rest: BOT.degrees(angle).toFixed(1) }));
        const gap = Math.max(...found.own.map((x, k) => Math.abs(x - found.after[k])));
        BOT.setText(lengths, BOT.t("panel.position.lengths", { before: BOT.sig(Math.hypot(...found.before), 4), after: BOT.sig(Math.hypot(...found.after), 4), gap: BOT.sig(gap, 2) }));
        BOT.setText(clockTitle, BOT.t("panel.position.clocks", { p }));
        clocks.set(rotary.theta, p, pair);
        partial.hidden = rotary.z === detail.q.shape[1];
        BOT.setText(partial, BOT.t("panel.position.partial", { z: rotary.z, e: detail.q.shape[1] }));
        BOT.setText(angles, BOT.t("panel.position.angles", { gap: BOT.sig(rotary.gap, 2) }));
      }

      /** What keeps the queries and keys from being shown, as a sentence, or null. */
      function why() {
        if (problem && problem.kind === "missing") return BOT.inside.missing(data, problem.part) || BOT.t("panel.position.failed");
        if (problem) return problem.kind === "loading" ? BOT.t("panel.position.loading") : BOT.pick(problem.error && problem.error.text) || BOT.t("panel.position.failed");
        return rotary || data.stream.position_rows ? null : BOT.t("panel.position.none");
      }

      function draw() {
        if (!data) return;
        const q = query();
        BOT.setText(row, BOT.t("panel.position.row", { p: q, token: token(q), id: BOT.num(data.ids.at(q)), norm: BOT.sig(data.stream.norms.at(0, q), 4) }));
        const says = why();
        note.hidden = says === null;
        BOT.setText(note, says || "");
        const ready = detail !== null && rotary !== null;
        // what was drawn stays until the next head is there, so that the page does not jump
        turning.hidden = !(ready || (problem && problem.kind === "loading" && turning.dataset.drawn));
        turning.classList.toggle("is-stale", !ready);
        headDials.hidden = (problem && problem.kind === "missing") || Boolean(data.stream.position_rows && detail && !rotary);
        dials.key.node.hidden = !ready;
        dials.query.draw();
        rows.show(q);
        if (!ready) return;
        turning.dataset.drawn = "yes";
        dials.key.set(names.length, (p) => p <= q);
        if (pair === null || pair >= rotary.theta.length) pair = Math.min(4, rotary.theta.length - 1);
        dials.pair.set(rotary.theta.length);
        drawTurn();
        shift.set({ data, detail, rotary, query: q, key: keyAt() });
        fold.draw();
      }

      const take = BOT.latest((found) => {
        // without the projections' own output, whether and how they are turned can not be told
        const part = found.q === null ? "heads" : found.q_raw === null ? "writes" : null;
        const seen = part === null;
        detail = seen ? found : null;
        problem = seen ? null : { kind: "missing", part };
        rotary = seen && found.cos && found.sin ? BOT.rotary(found.cos, found.sin) : null;
        draw();
      }, (error) => {
        problem = { kind: "failed", error };
        draw();
      });

      function fetchHead() {
        const { layer, head } = ctx.focus;
        const asked = `${data.trace}:${layer}:${head}`;
        if (asked === wanted) return;
        wanted = asked;
        detail = null;
        if (!data.heads) {
          problem = { kind: "missing", part: "heads" };
          return;
        }
        problem = { kind: "loading" };
        take(data.head(layer, head));
      }

      return {
        inside(next) {
          data = next;
          [wanted, detail, rotary, key] = ["", null, null, null];
          delete turning.dataset.drawn;
          names = [...data.ids.data].map((_, p) => `${p}  ${BOT.tokenText(BOT.inside.token(data, p).hex)}`);
          dials.layer.set(data.model.n_layers, (l) => data.layers.includes(l));
          dials.head.set(data.model.n_heads);
          dials.query.set(names.length);
          rows.inside(data);
          fetchHead();
        },
        step: draw,
        focus() {
          dials.layer.draw();
          dials.head.draw();
          fetchHead();
          draw();
        },
        lang() {
          plane.lang();
          shift.lang();
          rows.lang();
          draw();
        },
      };
    },
  });
})();

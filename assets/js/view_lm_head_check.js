/* The first candidates as a list, and on request one of their scores made again: the row of the
 * table is fetched and multiplied with the vector that the head gets, number by number.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const KEEP = 32; // rows of the table remembered

  /** dotCheck(ctx, changed()) -> {node, step(data, list), found(), lang()}. list: [{rank, id, hex, score,
   *  chosen}]. found: {row, products, candidate} once the check was made at this step, or null. */
  BOT.dotCheck = (ctx, changed) => {
    let data = null;
    let list = [];
    let pick = 0; // place in the list
    let state = { kind: "none" }; // none, asking, failed {error}, done {row, products, dot}
    let at = null; // the step and run that `state` is of
    const rows = new Map(); // trace id and token id -> Promise of f32[D]

    const body = el("tbody");
    const table = el("table", { class: "bot-table bot-head-table" },
      BOT.say(el("caption", { class: "bot-visually-hidden" }), "panel.lm_head.candidates"),
      el("thead", null, el("tr", null, ["rank", "token", "score"].map((name, k) =>
        BOT.say(el("th", { scope: "col", class: k === 1 ? null : "bot-n" }), `panel.lm_head.col.${name}`)))), body);
    const button = BOT.say(el("button", { class: "bot-btn", type: "button", on: { click: ask } }), "panel.lm_head.check");
    const hint = el("p", { class: "bot-hint" });
    const result = el("p", { class: "bot-head-result", role: "status", hidden: true });
    const own = BOT.say(el("p", { class: "bot-hint", hidden: true }), "panel.lm_head.check_own");
    const form = el("div", { class: "bot-head-check" }, button, hint, result);
    const node = el("div", { class: "bot-head-cands" }, el("div", { class: "bot-table-wrap" }, table), form, own);
    const pool = [];

    const text = (hex) => `\u2068${hex ? BOT.tokenText(hex) : "∅"}\u2069`;

    function line(k) {
      const choose = el("button", { type: "button", class: "bot-head-pick", on: { click: () => choosing(k) } });
      const cells = [el("td", { class: "bot-n" }), el("td", null, choose), el("td", { class: "bot-n" })];
      const row = el("tr", null, cells);
      const tag = BOT.say(el("span", { class: "bot-head-tag", hidden: true }), "panel.lm_head.chosen");
      cells[1].append(tag);
      body.append(row);
      return { row, cells, choose, tag };
    }

    function choosing(k) {
      pick = k;
      reset();
      draw();
      changed();
    }

    const reset = () => {
      state = { kind: "none" };
    };

    function draw() {
      while (pool.length < list.length) pool.push(line(pool.length));
      pool.forEach(({ row, cells, choose, tag }, k) => {
        row.hidden = k >= list.length;
        if (row.hidden) return;
        const { rank, hex, score, chosen } = list[k];
        BOT.setText(cells[0], BOT.num(rank));
        BOT.setText(choose, text(hex));
        BOT.setAttr(choose, "aria-pressed", k === pick);
        row.classList.toggle("is-picked", k === pick);
        tag.hidden = !chosen;
        BOT.setText(cells[2], BOT.sig(score, 5));
        BOT.setAttr(cells[2], "title", BOT.exact(score, true));
      });
      form.hidden = !data.model.tied;
      own.hidden = data.model.tied;
      BOT.setText(hint, BOT.t("panel.lm_head.check_hint", { token: text(list[pick].hex) }));
      button.disabled = state.kind === "asking";
      result.hidden = state.kind === "none";
      BOT.setText(result, says());
    }

    function says() {
      if (state.kind === "none") return "";
      if (state.kind === "asking") return BOT.t("panel.lm_head.checking");
      if (state.kind === "failed") return BOT.pick(state.error && state.error.text) || BOT.t("panel.lm_head.check_failed");
      const { score, hex } = list[pick];
      const { dot } = state;
      const cap = data.attribution && data.attribution.cap;
      const made = cap ? cap * Math.tanh(dot / cap) : dot;
      return BOT.t(cap ? "panel.lm_head.checked_capped" : "panel.lm_head.checked", {
        token: text(hex), raw: BOT.sig(dot, 8), dot: BOT.sig(made, 8), score: BOT.sig(score, 8), gap: BOT.sig(Math.abs(made - score), 2),
      });
    }

    function fetchRow(trace, id) {
      const key = `${trace}:${id}`;
      if (!rows.has(key)) {
        const row = BOT.ask("embedding", trace, id).then((answer) => BOT.f32(answer.row.values));
        row.catch(() => rows.delete(key));
        rows.set(key, row);
        if (rows.size > KEEP) rows.delete(rows.keys().next().value);
      }
      return rows.get(key);
    }

    async function ask() {
      const asked = (state = { kind: "asking" });
      const vector = data.stream.normed.row(ctx.i);
      draw();
      try {
        const row = await fetchRow(data.trace, list[pick].id);
        if (state !== asked) return; // another step or candidate by now
        const products = Float64Array.from(row, (x, k) => x * vector[k]);
        state = { kind: "done", row, products, dot: products.reduce((sum, x) => sum + x, 0), candidate: list[pick] };
      } catch (error) {
        if (state !== asked) return;
        state = { kind: "failed", error };
      }
      draw();
      changed();
    }

    return {
      node,
      found: () => (state.kind === "done" ? state : null),
      step(next, candidates) {
        data = next;
        list = candidates;
        const here = `${data.trace}:${ctx.i}`;
        if (here !== at) {
          at = here;
          pick = Math.max(0, list.findIndex((c) => c.chosen));
          reset();
        }
        draw();
      },
      lang() {
        if (data) draw();
      },
    };
  };
})();

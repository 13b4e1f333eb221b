/* The row of the embedding table behind one token: its values, and the rows nearest to it.
 *
 * Rows are asked for when the panel is on screen or somebody chooses a token, kept by trace and
 * id, and never asked for by stepping.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  const KEEP = 64; // rows remembered
  const PAGE = 128; // values of the table shown at once
  const METRICS = ["cosine", "euclidean", "dot"];

  /** One list of nearest rows: place, token, id, score, and the places in the other two lists. */
  function list(metric) {
    const others = METRICS.filter((name) => name !== metric);
    const keys = ["place", "token", "id", "score", ...others].map((name) => `panel.embedding.col.${name}`);
    const body = el("tbody");
    const node = el("div", { class: "bot-near" },
      el("h4", null, BOT.say(el("span"), `panel.embedding.${metric}`), " ", BOT.say(el("span", { class: "bot-hint" }), `panel.embedding.${metric}_sub`)),
      el("div", { class: "bot-table-wrap" }, el("table", { class: "bot-table" },
        el("thead", null, el("tr", null, keys.map((key, k) => BOT.say(el("th", { scope: "col", class: k === 1 ? null : "bot-n" }), key)))), body)));

    function elsewhere(here, place) {
      const [key, sign] = place === here ? ["same", "="] : place < here ? ["nearer", "▲"] : ["further", "▼"];
      const says = BOT.t(`panel.embedding.${key}`, { n: BOT.num(place) });
      return el("td", { class: `bot-n bot-rank is-${key}`, title: says },
        el("span", { "aria-hidden": "true" }, `${sign} ${BOT.num(place)}`), el("span", { class: "bot-visually-hidden" }, says));
    }

    return {
      node,
      set(row) {
        const near = row.neighbours.find((n) => n.metric === metric);
        if (!near) return body.replaceChildren();
        const scores = BOT.f32(near.score);
        const own = METRICS.indexOf(metric);
        body.replaceChildren(...near.ids.map((id, k) => el("tr", null,
          el("td", { class: "bot-n" }, BOT.num(near.rank_in[own][k])),
          el("td", { class: "bot-mono" }, near.hexes[k] ? BOT.pieceNode(near.hexes[k]) : BOT.t("panel.embedding.no_token")),
          el("td", { class: "bot-n" }, String(id)),
          el("td", { class: "bot-n", title: BOT.exact(scores[k], true) }, BOT.sig(scores[k], 4)),
          others.map((name) => elsewhere(near.rank_in[own][k], near.rank_in[METRICS.indexOf(name)][k])))));
      },
    };
  }

  BOT.panel({
    id: "embedding", stage: 3,
    mount(body, ctx) {
      let chosen = null; // {where, index}
      let wanted = ""; // the key of the row that is to be shown
      const rows = new Map(); // key -> row, or the promise of one
      let shown = null;

      const token = el("span", { class: "bot-token-big" });
      const place = el("span", { class: "bot-label" });
      const status = el("p", { class: "bot-note", role: "status", hidden: true });
      const retry = BOT.say(el("button", { class: "bot-btn", type: "button", hidden: true, on: { click: fetchRow } }), "panel.embedding.retry");
      const readout = el("output", { class: "bot-readout" });
      const line = BOT.strip(readout);
      const facts = Object.fromEntries(["norm", "mean", "min", "max"].map((name) => [name, el("dd")]));
      const keys = { norm: "panel.embedding.norm", mean: "panel.embedding.mean", min: "panel.embedding.min", max: "panel.embedding.max" };
      const lists = METRICS.map(list);
      const table = el("dl", { class: "bot-facts bot-table-facts" });
      const values = valueTable();
      const content = el("div", { class: "bot-row", hidden: true },
        el("dl", { class: "bot-facts bot-facts-row" }, Object.entries(keys).map(([name, key]) => el("div", null, BOT.say(el("dt"), key), facts[name]))),
        el("div", { class: "bot-strip-wrap" }, line.canvas),
        el("div", { class: "bot-strip-foot" }, line.scale, readout),
        values.node,
        BOT.say(el("h3", { class: "bot-label" }), "panel.embedding.near"),
        BOT.say(el("p", { class: "bot-hint" }), "panel.embedding.near_hint"),
        el("div", { class: "bot-nears" }, lists.map((l) => l.node)));
      body.append(
        el("div", { class: "bot-row-head" }, token, place, BOT.say(el("span", { class: "bot-hint" }), "panel.embedding.choose")),
        status, retry, content,
        el("div", { class: "bot-table-about" }, BOT.say(el("h3", { class: "bot-label" }), "panel.embedding.facts"), table));

      /** All values as text, one page at a time, filled only while it is open. */
      function valueTable() {
        const cells = Array.from({ length: PAGE }, () => ({ index: el("th", { scope: "row", class: "bot-n" }), value: el("td", { class: "bot-n" }) }));
        const lines = cells.map((cell) => el("tr", null, cell.index, cell.value));
        const where = el("span", { class: "bot-muted" });
        const back = el("button", { class: "bot-btn", type: "button", on: { click: () => turn(-1) } }, "‹");
        const forth = el("button", { class: "bot-btn", type: "button", on: { click: () => turn(1) } }, "›");
        const node = el("details", { class: "bot-values", on: { toggle: fill } }, BOT.say(el("summary"), "panel.embedding.values"),
          el("div", { class: "bot-values-nav" }, back, where, forth),
          el("div", { class: "bot-table-wrap", tabindex: 0 }, el("table", { class: "bot-table bot-values-table" },
            el("thead", null, el("tr", null, BOT.say(el("th", { scope: "col", class: "bot-n" }), "panel.embedding.col.index"), BOT.say(el("th", { scope: "col", class: "bot-n" }), "panel.embedding.col.value"))),
            el("tbody", null, lines))));
        let page = 0;

        function turn(by) {
          page += by;
          fill();
        }
        function fill() {
          if (!node.open || !shown) return;
          const last = Math.ceil(shown.values.length / PAGE) - 1;
          page = Math.max(0, Math.min(last, page));
          cells.forEach((cell, k) => {
            const index = page * PAGE + k;
            lines[k].hidden = index >= shown.values.length;
            if (lines[k].hidden) return;
            BOT.setText(cell.index, BOT.num(index));
            BOT.setText(cell.value, BOT.exact(shown.values[index], true).replace("-", "−"));
          });
          BOT.setText(where, `${BOT.num(page * PAGE)}–${BOT.num(Math.min(shown.values.length, (page + 1) * PAGE) - 1)} / ${BOT.num(shown.values.length)}`);
          BOT.setAttr(back, "aria-disabled", page === 0 ? "true" : null);
          BOT.setAttr(forth, "aria-disabled", page === last ? "true" : null);
        }
        return { node, fill };
      }

      const tokenOf = (what) => (what.where === "prompt" ? ctx.trace.prompt[what.index] : (ctx.trace.steps[what.index] || {}).tok);

      function head() {
        const tok = chosen && tokenOf(chosen);
        if (!tok) return;
        token.replaceChildren(BOT.pieceNode(tok.hex));
        BOT.setText(place, BOT.t("panel.embedding.row", { id: BOT.num(tok.id), rows: BOT.num(ctx.trace.model.vocab_rows) }));
      }

      function about() {
        const { model } = ctx.trace;
        const size = model.vocab_rows * model.d_model;
        const unused = model.vocab_rows - model.vocab_size;
        const lines = [
          BOT.t("panel.embedding.size", { rows: BOT.num(model.vocab_rows), width: BOT.num(model.d_model), values: BOT.num(size) }),
          BOT.t("panel.embedding.share", { p: BOT.prob(size / model.n_params), n: BOT.num(model.n_params) }),
          BOT.t(model.tied ? "panel.embedding.tied" : "panel.embedding.untied"),
          unused > 0 ? BOT.t("panel.embedding.unused", { n: BOT.num(unused) }) : BOT.t("panel.embedding.all_used"),
        ];
        table.replaceChildren(...lines.map((text) => el("dd", null, text)));
      }

      function numbers() {
        if (!shown) return;
        const { norm, mean, min, max } = shown;
        const put = (cell, value, text) => {
          BOT.setText(cell, text);
          cell.title = BOT.exact(value);
        };
        put(facts.norm, norm, BOT.sig(norm, 5));
        put(facts.mean, mean, BOT.sig(mean, 4));
        for (const [cell, value] of [[facts.min, min], [facts.max, max]]) {
          put(cell, value, BOT.t("panel.embedding.at", { value: BOT.sig(value, 4), index: BOT.num(shown.values.indexOf(Math.fround(value))) }));
        }
        lists.forEach((l) => l.set(shown));
        line.say();
        values.fill();
      }

      /** What is to be seen now: the row, or why it is not there. */
      function say(kind, error) {
        status.hidden = kind === "row";
        retry.hidden = kind !== "failed";
        content.hidden = !shown;
        content.classList.toggle("is-stale", kind !== "row");
        status.className = `bot-note ${kind === "failed" ? "bot-note-bad" : "bot-note-info"}`;
        if (kind !== "row") BOT.setText(status, kind === "failed" ? BOT.pick(error && error.text) || BOT.t("panel.embedding.failed") : BOT.t(`panel.embedding.${kind}`));
        state = { kind, error };
      }
      let state = { kind: "pending", error: null };

      function put(row) {
        shown = row;
        say("row");
        line.set(row);
        numbers();
      }

      async function fetchRow() {
        const { trace } = ctx;
        const tok = trace && chosen && tokenOf(chosen);
        if (!tok) return;
        const key = `${trace.id}:${tok.id}`;
        if (!trace.id) {
          wanted = "";
          shown = null;
          return say("later");
        }
        wanted = key;
        if (rows.get(key) && rows.get(key).values) return put(rows.get(key));
        shown = null;
        say("pending");
        try {
          if (!rows.has(key)) rows.set(key, BOT.ask("embedding", trace.id, tok.id));
          const { row } = await rows.get(key);
          const ready = row.values instanceof Float32Array ? row : Object.assign(row, { values: BOT.f32(row.values) });
          rows.set(key, ready);
          if (rows.size > KEEP) rows.delete(rows.keys().next().value);
          if (wanted === key) put(ready);
        } catch (error) {
          rows.delete(key);
          if (wanted === key) say("failed", error);
        }
      }

      function choose(what) {
        if (!ctx.trace) return;
        chosen = what;
        head();
        fetchRow();
      }
      // A token may be chosen before this panel has come on screen with the trace it belongs to.
      let selected = null;
      ctx.on("select", (what) => {
        selected = { trace: ctx.trace, what };
        choose(what);
      });

      return {
        trace(trace) {
          about();
          choose(selected && selected.trace === trace ? selected.what : BOT.firstChoice(trace));
        },
        end() {
          if (!shown) fetchRow();
        },
        step() {},
        lang() {
          if (!ctx.trace) return;
          head();
          about();
          say(state.kind, state.error);
          numbers();
        },
      };
    },
  });
})();

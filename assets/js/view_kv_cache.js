/* The KV cache: which positions every layer and kv head holds after this run, and in how many bytes. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, state } = BOT;
  const WHAT = ["key", "value"];
  const NAMES = { key: "panel.kv_cache.keys", value: "panel.kv_cache.values" };
  const UNITS = { key: "panel.kv_cache.read.key", value: "panel.kv_cache.read.value" };

  const limited = (low, x, high) => Math.max(low, Math.min(high, Math.round(x)));

  BOT.insidePanel({
    id: "kv_cache", deck: "cost", stage: 5,
    mount(body, ctx) {
      let what = "key";
      let layer = 0; // shown; the one in focus, but for layers that only this panel has
      let aimed = -1; // the layer that was last in focus
      let found = null; // BOT.holding of the trace shown
      let sink = null;
      let parts = null; // [map of one layer, map of all]

      const tabs = WHAT.map((name) => BOT.say(el("button", { type: "button", role: "tab", on: { click: () => turn(name) } }), NAMES[name]));
      const dial = BOT.dial({ key: "ui.inside.layer", get: () => layer, set: choose });
      const missing = el("p", { class: "bot-note", hidden: true });
      const serves = el("ul", { class: "bot-kv-serves" });
      const one = el("div", { class: "bot-kv-one" });
      const all = el("div", { class: "bot-kv-all" });
      const title = el("h4", { class: "bot-kv-title" });
      const wholeTitle = el("h4", { class: "bot-kv-title" });
      const legend = el("ul", { class: "bot-run-legend bot-kv-legend" }, ["newest", "absent"].map((kind) =>
        el("li", null, el("i", { class: `is-${kind}` }), BOT.say(el("span"), `panel.kv_cache.legend.${kind}`))));
      const slides = el("p", { class: "bot-hint" });
      const fact = el("p", { class: "bot-kv-fact" });
      const formula = BOT.cacheFormula();
      const growth = BOT.cacheGrowth(ctx.go);
      const size = el("p", { class: "bot-facts-line" });
      const maps = el("div", { class: "bot-kv-maps" },
        el("div", { class: "bot-dials" }, BOT.say(el("div", { class: "bot-tabs", role: "tablist" }, tabs), "panel.kv_cache.tabs", "aria-label"), dial.node),
        title, serves, one, legend, slides, wholeTitle, all, fact);
      const norms = BOT.foldRows({
        label: "panel.kv_cache.table", row: normRow,
        columns: [["position", "5.5rem"], ["token", "9rem"], ["head", "5.5rem"], ["key", "7rem"], ["value", "7rem"], ["held", "12rem"]]
          .map(([name, width]) => ({ key: `panel.kv_cache.col.${name}`, width, class: name === "token" ? "bot-mono" : name === "held" ? null : "bot-n" })),
      });
      const runs = BOT.foldRows({
        label: "panel.kv_cache.table_runs", row: runRow, go: ctx.go,
        columns: [["run", "4rem"], ["before", "8rem"], ["after", "8rem"], ["bytes", "8rem"], ["formula", "8rem"]]
          .map(([name, width]) => ({ key: `panel.kv_cache.col.${name}`, width, class: "bot-n" })),
      });
      body.append(missing, maps, BOT.say(el("h4", { class: "bot-kv-title bot-kv-apart" }), "panel.kv_cache.formula"), formula.node, size, growth.node, norms.node, runs.node);

      const table = (name) => ctx.data.heads[name === "key" ? "key_norms" : "value_norms"];
      const after = () => found.at(state.i).after;
      const token = (position) => `\u2068${BOT.tokenText(BOT.inside.token(ctx.data, position).hex)}\u2069`;
      const held = (l, position) => {
        const [from, to] = found.range(l, after());
        return position >= to ? "panel.kv_cache.not_yet" : position < from ? "panel.kv_cache.slid_out" : "panel.kv_cache.held";
      };

      function reads(l, g, position) {
        return BOT.t(UNITS[what], {
          layer: l, head: g, position: BOT.num(position), token: token(position),
          norm: BOT.sig(table(what).at(l, g, position), 4), held: BOT.t(held(l, position)),
        });
      }

      const pool = new Map(); // "one|all", height of a row -> map
      function map(kind, tall) {
        const key = `${kind} ${tall}`;
        const heads = () => ctx.data.model.n_kv_heads;
        if (!pool.has(key)) {
          pool.set(key, BOT.cacheMap(kind === "one" ? {
            label: "panel.kv_cache.map_one", tall, least: 3, read: (r, c) => reads(layer, r, c),
            rowName: (r) => `kv ${r}`, colName: (c) => BOT.tokenText(BOT.inside.token(ctx.data, c).hex),
          } : {
            label: "panel.kv_cache.map_all", tall, least: 3, read: (r, c) => reads(Math.floor(r / heads()), r % heads(), c),
            rowName: (r) => (r % heads() || (r === 0 && tall < 12) ? "" : String(r / heads())), colName: () => "",
            pick: (r) => choose(Math.floor(r / heads())),
          }));
        }
        return pool.get(key);
      }

      const largest = (values) => values.reduce((a, b) => (b > a ? b : a), 0);

      function paint() {
        const { data } = ctx;
        if (!data.heads) return;
        const { n_layers: L, n_kv_heads: G } = data.model;
        const norms_ = table(what);
        const cols = norms_.shape[2];
        const next = [map("one", limited(16, 150 / G, 40)), map("all", limited(2, 360 / (L * G), 14))];
        if (!parts || next.some((part, k) => part !== parts[k])) {
          parts = next;
          one.replaceChildren(parts[0].node);
          all.replaceChildren(parts[1].node);
        }
        parts[1].set({ rows: L * G, cols, value: (r, c) => norms_.at(Math.floor(r / G), r % G, c), most: largest(norms_.data) || 1 });
        paintLayer();
      }

      function paintLayer() {
        const { data } = ctx;
        const norms_ = table(what);
        const rows = data.model.n_kv_heads;
        let most = 0;
        for (let g = 0; g < rows; g++) most = Math.max(most, largest(norms_.row(layer, g)));
        parts[0].set({ rows, cols: norms_.shape[2], value: (r, c) => norms_.at(layer, r, c), most: most || 1 });
      }

      /** What stands beside the maps and does not depend on the step. */
      function words() {
        const { data } = ctx;
        const { model } = data;
        const none = data.heads ? null : BOT.inside.missing(data, "heads");
        missing.hidden = data.heads !== null;
        maps.hidden = norms.node.hidden = data.heads === null;
        BOT.setText(missing, none || BOT.t("panel.kv_cache.unseen"));
        tabs.forEach((tab, k) => BOT.setAttr(tab, "aria-selected", WHAT[k] === what));
        BOT.setText(title, BOT.t("panel.kv_cache.layer_title", { layer, what: BOT.t(NAMES[what]), n: model.n_kv_heads, heads: BOT.num(model.n_kv_heads) }));
        BOT.setText(wholeTitle, BOT.t("panel.kv_cache.all_title", { layers: BOT.num(model.n_layers), heads: BOT.num(model.n_kv_heads), positions: BOT.num(data.ids.data.length) }));
        const w = found.windows[layer];
        slides.hidden = !found.sliding;
        BOT.setText(slides, BOT.t(w === null ? "panel.kv_cache.layer_full" : "panel.kv_cache.layer_slides", { layer, window: BOT.num(w), held: BOT.num(w - 1) }));
        const more = found.perLayer === null ? null : found.bytes(1);
        const whole = more && model.max_context ? found.bytes(model.max_context) : null;
        BOT.setText(size, BOT.joined([
          more === null ? null : BOT.t(found.sliding ? "panel.kv_cache.each_first" : "panel.kv_cache.each", { bytes: BOT.bytes(more) }),
          whole ? BOT.t("panel.kv_cache.full", { n: BOT.num(model.max_context), bytes: BOT.bytes(whole) }) : null,
          data.weights ? BOT.t("panel.kv_cache.weights", { bytes: BOT.bytes(model.n_params * data.weights.itemsize) }) : null,
        ]));
      }

      const chips = [];
      /** Which query heads read which kv head. */
      function serving() {
        const { n_heads: H, n_kv_heads: G } = ctx.data.model;
        if (chips.length !== H || serves.children.length !== G) {
          chips.length = 0;
          serves.replaceChildren(...Array.from({ length: G }, (_, g) => el("li", null,
            el("span", { class: "bot-kv-head" }, `kv ${g}`), el("span", { "aria-hidden": "true" }, "←"),
            Array.from({ length: H / G }, (__, k) => {
              const head = (g * H) / G + k;
              chips.push(el("button", { class: "bot-chip", type: "button", on: { click: () => ctx.setFocus({ head }) } }, `q ${head}`));
              return chips[head];
            }))));
        }
        chips.forEach((chip, head) => {
          BOT.setAttr(chip, "aria-pressed", head === ctx.focus.head);
          BOT.setAttr(chip, "aria-label", BOT.t("panel.kv_cache.serves", { query: head, head: Math.floor((head * G) / H) }));
        });
      }

      function step(i) {
        const { model, heads } = ctx.data;
        const read = after();
        formula.draw(found, model, i);
        growth.draw(i);
        if (heads && parts) {
          const col = read > 0 ? read - 1 : null;
          const G = model.n_kv_heads;
          parts[0].show({ held: () => found.range(layer, read), band: null, col });
          parts[1].show({ held: (r) => found.range(Math.floor(r / G), read), band: [layer * G, G], col });
          first(i, heads);
        }
        if (heads) norms.draw(heads.key_norms.shape[1] * heads.key_norms.shape[2], -1, true);
        runs.draw(state.trace.steps.length, i, false);
      }

      /** Position 0 beside the others, as measured; called a sink only where it measures as one. */
      function first(i, heads) {
        fact.hidden = sink === null;
        if (!sink) return;
        const [L, H] = heads.sink.shape;
        let weight = 0;
        for (let l = 0; l < L; l++) for (let h = 0; h < H; h++) weight += heads.sink.at(l, h, Math.max(0, i)) / (L * H);
        const values = { token: token(0), key: BOT.sig(sink.key), value: BOT.sig(sink.value), n: BOT.num(sink.n), weight: BOT.prob(weight), share: BOT.prob(1 / Math.max(1, after())) };
        const sentences = [BOT.t("panel.kv_cache.first", values)];
        if (i >= 0) sentences.push(BOT.t("panel.kv_cache.first_read", values));
        if (i >= 0 && sink.value < 0.5 && weight * after() > 2) sentences.push(BOT.t("panel.kv_cache.first_sink"));
        BOT.setText(fact, BOT.joined(sentences));
      }

      function normRow(k) {
        const { heads } = ctx.data;
        const G = heads.key_norms.shape[1];
        const [position, g] = [Math.floor(k / G), k % G];
        const cell = (found_) => ({ text: BOT.sig(found_.at(layer, g, position), 4), title: BOT.exact(found_.at(layer, g, position), true) });
        return [BOT.num(position), { hex: BOT.inside.token(ctx.data, position).hex }, String(g), cell(heads.key_norms), cell(heads.value_norms), BOT.t(held(layer, position))];
      }

      function runRow(i) {
        const { cache } = state.trace.steps[i];
        return [i + 1, ...cache, found.bytes(cache[1])].map(BOT.num);
      }

      function turn(name) {
        what = name;
        paint();
        words();
        step(state.i);
      }

      function choose(next) {
        const { data } = ctx;
        layer = next;
        if (!data.recorded || data.layers.includes(next)) ctx.setFocus({ layer: next });
        moved();
      }

      function moved() {
        dial.draw();
        if (parts && ctx.data.heads) paintLayer();
        words();
        step(state.i);
      }

      return {
        inside(data) {
          layer = Math.min(ctx.focus.layer, data.model.n_layers - 1);
          aimed = ctx.focus.layer;
          found = BOT.holding(state.trace, data);
          sink = data.heads ? BOT.firstBeside(data) : null;
          dial.set(data.model.n_layers);
          growth.trace(state.trace);
          paint();
          words();
          serving();
        },
        step,
        focus(focus) {
          serving();
          if (focus.layer === aimed) return;
          aimed = focus.layer;
          if (focus.layer === layer || focus.layer >= ctx.data.model.n_layers) return;
          layer = focus.layer;
          moved();
        },
        lang() {
          paint();
          words();
          serving();
          step(state.i);
        },
      };
    },
  });
})();

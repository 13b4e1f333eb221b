/* The prefill beside a decode run, number by number, each pair with bars to one scale. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  const rate = (amount, ms) => (amount === null || !ms ? null : (1000 * amount) / ms);

  /** The rows: value(run) is the number of the bar, or null; text(run, value) what is read. */
  function rows(counts, model) {
    const whole = (value) => BOT.num(value);
    /** One number for each kind of layer: those that see all, and those with a window. */
    const perLayer = (of) => {
      const kinds = [...new Set(counts.windows || [null])].sort((a, b) => (a === null ? -1 : b === null ? 1 : a - b));
      return kinds.map((w) => (w === null ? BOT.num(of(w)) : BOT.t("panel.runs.row.window", { n: BOT.num(of(w)), window: BOT.num(w) }))).join(" · ");
    };
    return {
      positions: { value: (run) => run.fresh, text: (run, v) => whole(v) },
      kept: { value: (run) => run.held, text: (run, v) => perLayer((w) => (w === null ? v : Math.min(v, w - 1))) },
      pairs: { value: (run) => run.pairs, text: (run) => perLayer((w) => counts.layerPairs(run.from, run.to, w)) },
      rows: { value: (run) => run.fresh, text: (run, v) => BOT.t("panel.runs.row.rows_of", { n: whole(v), rows: whole(model.vocab_rows) }) },
      head: { value: () => 1, text: (run) => BOT.t("panel.runs.row.head_of", { n: whole(run.fresh) }) },
      bytes: { value: (run) => run.bytes, text: (run, v) => BOT.bytes(v), exact: (run) => `${BOT.num(run.numbers)} × ${counts.itemsize} B = ${BOT.num(run.bytes)} B` },
      macs: { value: (run) => run.macs, text: (run, v) => BOT.count(v), exact: (run, v) => BOT.num(v) },
      per_byte: { value: (run) => run.perByte, text: (run, v) => BOT.sig(v) },
      cache: { value: (run) => run.after, text: (run, v) => (v === null ? "–" : `${BOT.bytes(run.before)} → ${BOT.bytes(v)}`), exact: (run, v) => `${BOT.num(run.before)} B → ${BOT.num(v)} B` },
      ms: { value: (run) => run.ms, text: (run, v) => BOT.ms(v) },
      macs_rate: { value: (run) => rate(run.macs, run.ms), text: (run, v) => BOT.t("panel.runs.per_second", { n: BOT.count(v) }) },
      bytes_rate: { value: (run) => rate(run.bytes, run.ms), text: (run, v) => BOT.t("panel.runs.per_second", { n: BOT.bytes(v) }) },
    };
  }

  const KEYS = {
    positions: "panel.runs.row.positions", kept: "panel.runs.row.kept", pairs: "panel.runs.row.pairs",
    rows: "panel.runs.row.rows", head: "panel.runs.row.head", bytes: "panel.runs.row.bytes",
    macs: "panel.runs.row.macs", per_byte: "panel.runs.row.per_byte", cache: "panel.runs.row.cache",
    ms: "panel.runs.row.ms", macs_rate: "panel.runs.row.macs_rate", bytes_rate: "panel.runs.row.bytes_rate",
  };
  const MEASURED = new Set(["cache", "ms", "macs_rate", "bytes_rate"]);

  /** {node, draw(counts, trace, i)}. */
  BOT.runTable = () => {
    const column = () => ({ head: el("th", { scope: "col" }) });
    const [first, second] = [column(), column()];
    const lines = Object.entries(KEYS).map(([name, key]) => {
      const cells = [0, 1].map(() => {
        const text = el("span", { class: "bot-cost-value" });
        const bar = el("i", { class: "bot-cost-bar", "aria-hidden": "true" });
        return { text, bar, node: el("td", null, text, bar) };
      });
      return { name, cells, row: el("tr", { class: MEASURED.has(name) ? "is-measured" : null },
        BOT.say(el("th", { scope: "row" }), key), cells.map((c) => c.node)) };
    });
    const node = BOT.say(el("div", { class: "bot-table-wrap bot-cost", tabindex: 0, role: "region" },
      el("table", { class: "bot-table" },
        el("thead", null, el("tr", null, BOT.say(el("th", { scope: "col" }), "panel.runs.col.what"), first.head, second.head)),
        el("tbody", null, lines.map((line) => line.row)))), "panel.runs.table", "aria-label");

    return {
      node,
      draw(counts, trace, i) {
        const runs = [counts.run(0), counts.run(i > 0 ? i : 1)];
        const there = [true, trace.steps.length > 1];
        const all = rows(counts, trace.model);
        BOT.setText(first.head, BOT.t("panel.runs.prefill_run"));
        BOT.setText(second.head, BOT.t("panel.runs.decode_run", { n: BOT.num(runs[1].i + 1) }));
        BOT.setAttr(first.head, "aria-current", i === 0 ? "true" : null);
        BOT.setAttr(second.head, "aria-current", i > 0 ? "true" : null);
        second.head.hidden = !there[1];
        for (const { name, cells } of lines) {
          const { value, text, exact } = all[name];
          const values = runs.map((run, k) => (there[k] ? value(run) : null));
          const most = Math.max(...values.map((v) => v || 0));
          cells.forEach(({ text: place, bar, node: cell }, k) => {
            const v = values[k];
            cell.hidden = !there[k];
            BOT.setText(place, v === null ? "–" : text(runs[k], v));
            BOT.setAttr(cell, "title", v === null ? null : exact ? exact(runs[k], v) : String(v));
            bar.style.setProperty("--share", v && most ? v / most : 0);
          });
        }
      },
    };
  };
})();

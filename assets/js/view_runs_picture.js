/* Two runs drawn to one scale: a column is a position, its height is the layers. Beside them the
 * query–key pairs of all runs, a square of positions × positions. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, svg } = BOT;

  const shortest = (windows) => (windows || []).reduce((a, w) => (w !== null && (a === null || w < a) ? w : a), null);

  /** The part of what came before that each layer still holds, the first layer at the bottom, as a
   *  clip-path; "" where all hold all. */
  function reach(from, windows) {
    if (shortest(windows) === null) return "";
    const L = windows.length;
    const points = [];
    windows.forEach((w, layer) => {
      const x = w === null ? 0 : (100 * Math.max(0, from - (w - 1))) / from;
      for (const y of [L - layer, L - layer - 1]) points.push(`${x}% ${(100 * y) / L}%`);
    });
    return `polygon(${points.join(",")},100% 0%,100% 100%)`;
  }

  /** One run: {node, draw(run, scale), lang()}. scale: {n positions across, model, now}. */
  function lane(kind) {
    const name = el("span", { class: "bot-run-name" });
    const now = BOT.say(el("span", { class: "bot-run-now" }), "panel.runs.now");
    const title = el("h4", { class: "bot-run-title" }, name, now);
    const head = el("div", { class: "bot-run-head" });
    const kept = el("div", { class: "bot-run-kept" });
    const keptName = el("div", { class: "bot-run-kept-name" }, el("span"));
    const fresh = el("div", { class: "bot-run-fresh" }, el("span"));
    const field = el("div", { class: "bot-run-field" }, kept, keptName, fresh);
    const stem = el("div", { class: "bot-run-stem" }, el("i"));
    const foot = el("p", { class: "bot-run-foot" });
    const picture = el("div", { class: "bot-run-picture", role: "img" }, head, stem, field);
    const node = el("div", { class: `bot-run bot-run-${kind}` }, title, picture, foot);

    return {
      node,
      draw(run, { n, model, current, windows }) {
        node.classList.toggle("is-now", current);
        now.hidden = !current;
        BOT.setText(name, BOT.t(run.i === 0 ? "panel.runs.prefill_run" : "panel.runs.decode_run", { n: BOT.num(run.i + 1) }));
        const share = (k) => `${(100 * k) / n}%`;
        picture.style.setProperty("--one", share(1));
        picture.style.setProperty("--held", share(run.from));
        picture.style.setProperty("--fresh", share(run.fresh));
        picture.style.setProperty("--last", share(run.to - 0.5));
        picture.style.setProperty("--layers", model.n_layers);
        kept.hidden = keptName.hidden = run.from === 0;
        kept.style.clipPath = run.from > 0 ? reach(run.from, windows) : "";
        const cached = BOT.t(shortest(windows) === null ? "panel.runs.kept" : "panel.runs.kept_most", { n: BOT.num(run.from) });
        BOT.setText(keptName.firstChild, cached);
        BOT.setText(fresh.firstChild, run.fresh > 0.35 * n ? BOT.t("panel.runs.fresh", { n: BOT.num(run.fresh), layers: BOT.num(model.n_layers) }) : "");
        BOT.setText(head, BOT.t("panel.runs.head", { width: BOT.num(model.d_model), rows: BOT.num(model.vocab_rows) }));
        const goesIn = BOT.t("panel.runs.goes_in", { n: BOT.num(run.fresh), width: BOT.num(model.d_model), layers: BOT.num(model.n_layers) });
        const least = run.from > 0 ? shortest(windows) : null;
        BOT.setText(foot, BOT.joined([goesIn, least !== null && least - 1 < run.from ? BOT.t("panel.runs.kept_window", { window: BOT.num(least), n: BOT.num(least - 1) }) : null]));
        BOT.setAttr(picture, "aria-label", BOT.t("panel.runs.picture", { run: name.textContent, fresh: BOT.num(run.fresh), kept: BOT.num(run.from), layers: BOT.num(model.n_layers) }));
      },
    };
  }

  /** The staircase of queries from … to − 1: each reaches from its first key to itself. */
  function stairs(from, to, window) {
    const first = (q) => (window === null ? 0 : Math.max(0, q + 1 - window));
    let d = `M${first(from)} ${from}`;
    for (let q = from; q < to; q++) d += `H${q + 1}V${q + 1}`;
    for (let q = to - 1; q >= from; q--) d += `H${first(q)}V${q}`;
    return `${d}z`;
  }

  let made = 0;
  /** All pairs: {node, trace(n, T, windows), draw(run)}. */
  function square() {
    const id = `bot-pairs-${++made}`;
    const rect = svg("rect", { x: 0, y: 0 });
    const block = svg("path", { class: "bot-pairs-block" });
    const rows = svg("path", { class: "bot-pairs-rows", "clip-path": `url(#${id})` });
    const rim = svg("path", { class: "bot-pairs-rim" });
    const edge = svg("path", { class: "bot-pairs-window" });
    const row = svg("path", { class: "bot-pairs-row" });
    const drawing = svg("svg", { class: "bot-pairs-map", role: "img", preserveAspectRatio: "none" },
      svg("clipPath", { id }, rect), rim, block, rows, edge, row);
    const title = el("h4", { class: "bot-run-title" });
    const note = el("p", { class: "bot-run-foot" });
    const node = el("div", { class: "bot-pairs" }, title,
      el("div", { class: "bot-pairs-frame" },
        BOT.say(el("span", { class: "bot-pairs-keys" }), "panel.runs.keys"),
        BOT.say(el("span", { class: "bot-pairs-queries" }), "panel.runs.queries"), drawing), note);
    let shown = null;

    return {
      node,
      /** n positions across; the first T are the prompt's. */
      trace(n, T, windows) {
        shown = { n, T };
        BOT.setAttr(drawing, "viewBox", `0 0 ${n} ${n}`);
        BOT.setAttr(rim, "d", stairs(0, n, null));
        BOT.setAttr(block, "d", stairs(0, T, null));
        BOT.setAttr(rows, "d", n > T ? stairs(T, n, null) : "");
        BOT.setAttr(rect, "width", n);
        const least = (shown.window = shortest(windows));
        BOT.setAttr(edge, "d", least !== null && least < n ? `M0 ${least}L${n - least} ${n}` : "");
      },
      draw(run, i) {
        const { n, T, window } = shown;
        BOT.setAttr(rect, "height", i < 0 ? 0 : T + i);
        block.classList.toggle("is-now", i === 0);
        block.classList.toggle("is-ahead", i < 0);
        BOT.setAttr(row, "d", i > 0 ? `M0 ${run.from}H${run.to}V${run.to}H0z` : "");
        const pairs = (run.to * (run.to + 1) - run.from * (run.from + 1)) / 2;
        BOT.setText(title, BOT.t("panel.runs.pairs_title"));
        const says = BOT.t(run.i === 0 ? "panel.runs.pairs_prefill" : "panel.runs.pairs_decode", { n: BOT.num(run.fresh), pairs: BOT.num(pairs), keys: BOT.num(run.to) });
        BOT.setText(note, BOT.joined([says, window !== null && window < n ? BOT.t("panel.runs.pairs_window", { window: BOT.num(window) }) : null]));
        BOT.setAttr(drawing, "aria-label", note.textContent);
      },
    };
  }

  /** {node, draw(counts, trace, i)}: the prefill, a decode run (the one shown, else the first), the pairs. */
  BOT.runPicture = () => {
    const prefill = lane("prefill");
    const decode = lane("decode");
    const pairs = square();
    const none = BOT.say(el("p", { class: "bot-note" }), "panel.runs.no_decode");
    const legend = el("ul", { class: "bot-run-legend" }, ["fresh", "kept", "ahead"].map((kind) =>
      el("li", null, el("i", { class: `is-${kind}` }), BOT.say(el("span"), `panel.runs.legend.${kind}`))));
    const axes = el("p", { class: "bot-hint" });
    const node = el("div", { class: "bot-runs" },
      el("div", { class: "bot-runs-lanes" }, prefill.node, decode.node, none, el("div", { class: "bot-runs-key" }, axes, legend)), pairs.node);
    let drawn = null;

    return {
      node,
      draw(counts, trace, i) {
        const n = counts.T + Math.max(0, trace.steps.length - 1);
        if (!drawn || drawn.counts !== counts || drawn.n !== n) {
          drawn = { counts, n };
          pairs.trace(n, counts.T, counts.windows);
        }
        const { model } = trace;
        const later = i > 0 ? i : 1;
        prefill.draw(counts.run(0), { n, model, windows: counts.windows, current: i === 0 });
        decode.node.hidden = trace.steps.length < 2;
        none.hidden = !(trace.finish !== null && trace.steps.length === 1);
        if (!decode.node.hidden) decode.draw(counts.run(later), { n, model, windows: counts.windows, current: i > 0 });
        pairs.draw(counts.run(Math.max(0, i)), i);
        BOT.setText(axes, BOT.t("panel.runs.axes", { last: BOT.num(n - 1), layer: BOT.num(model.n_layers - 1) }));
      },
    };
  };
})();

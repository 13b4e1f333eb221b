/* Every run of the answer as a bar, the prefill first, with what it would take without the cache as
 * an outline; and the sums of the whole answer. Counts have a square root's axis: small ones stay
 * visible beside the prefill. Times have a plain one. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, svg, state } = BOT;
  const MEASURES = ["macs", "ms"];
  const NAMES = { macs: "panel.runs.measure.macs", ms: "panel.runs.measure.ms" };

  const HEIGHT = { macs: Math.sqrt, ms: (share) => share };
  const SHARE = { macs: (high) => high ** 2, ms: (high) => high };

  const says = (name, value) => (name === "ms" ? BOT.ms(value) : BOT.count(value));

  /** {node, set(series), draw(i)}. series: {macs, ms} of {with: [number|null, …], without: [… or none]}. */
  BOT.runChart = (go) => {
    let series = null;
    let measure = null; // the reader's, or what there is
    const tabs = MEASURES.map((name) => BOT.say(el("button", { type: "button", role: "tab", on: { click: () => { measure = name; draw(at); } } }), NAMES[name]));
    const solid = svg("path", { class: "bot-runbars-with" });
    const hollow = svg("path", { class: "bot-runbars-without" });
    const drawing = svg("svg", { class: "bot-runbars-svg", preserveAspectRatio: "none", "aria-hidden": "true" }, solid, hollow);
    const cursor = el("div", { class: "bot-runbars-cursor", "aria-hidden": "true" });
    const ticks = [1, 0.5, 0.25, 0].map((high) => ({ high, node: el("span", { class: "bot-runbars-tick", style: { "--high": high } }) }));
    const plot = el("div", { class: "bot-runbars-plot", role: "img", on: { pointermove: over, pointerleave: () => say(at), click: (event) => go(under(event)) } }, drawing, cursor);
    const ends = [el("span"), el("span")];
    const readout = el("p", { class: "bot-runbars-read" });
    const legend = el("ul", { class: "bot-run-legend" }, ["with", "without"].map((kind) =>
      el("li", null, el("i", { class: `is-${kind}` }), BOT.say(el("span"), `panel.runs.bar.${kind}`))));
    const root = BOT.say(el("span"), "panel.runs.bar.scale");
    const none = BOT.say(el("span"), "panel.runs.bar.unmeasured");
    const node = el("div", { class: "bot-runbars" },
      el("div", { class: "bot-runbars-top" }, BOT.say(el("h4", { class: "bot-run-title" }), "panel.runs.chart"),
        BOT.say(el("div", { class: "bot-tabs", role: "tablist" }, tabs), "panel.runs.chart", "aria-label")),
      el("div", { class: "bot-runbars-frame" }, ticks.map((t) => t.node), plot, el("div", { class: "bot-runbars-axis" }, ends)),
      el("div", { class: "bot-runbars-foot" }, readout, legend), el("p", { class: "bot-hint" }, root, none));
    let at = -1;
    let painted = {};

    const count = () => (series ? series[shown()].with.length : 0);
    const there = (name) => series[name].with.some((v) => v !== null);
    const shown = () => (measure && there(measure) ? measure : there("macs") ? "macs" : "ms");

    function under(event) {
      const box = plot.getBoundingClientRect();
      return Math.max(0, Math.min(count() - 1, Math.floor(((event.clientX - box.left) / box.width) * count())));
    }

    function over(event) {
      say(under(event));
    }

    function say(k) {
      if (!series || k < 0 || k >= count()) return BOT.setText(readout, BOT.t("panel.runs.bar.hint"));
      const name = shown();
      const { with: having, without } = series[name];
      const values = { run: BOT.num(k + 1), with: says(name, having[k]), without: without ? says(name, without[k]) : "–" };
      BOT.setText(readout, BOT.t(without ? "panel.runs.bar.both" : "panel.runs.bar.alone", values));
    }

    function paint() {
      const name = shown();
      const { with: having, without } = series[name];
      const n = having.length;
      if (painted.series === series && painted.name === name && painted.lang === state.lang) return;
      painted = { series, name, lang: state.lang };
      const most = Math.max(...having, ...(without || [])) || 1;
      const high = (v) => HEIGHT[name]((v || 0) / most);
      const wide = n > 120 ? 1 : 0.76; // many bars are an area, their outlines one line
      BOT.setAttr(drawing, "viewBox", `0 0 ${Math.max(1, n)} 1`);
      BOT.setAttr(solid, "d", having.map((v, k) => `M${k + 0.5 - wide / 2} 1v${-high(v)}h${wide}v${high(v)}z`).join(""));
      const outline = (v, k) => (wide < 1 ? `M${k + 0.5 - wide / 2} 1v${-high(v)}h${wide}v${high(v)}` : `${k ? "L" : "M"}${k} ${1 - high(v)}H${k + 1}`);
      BOT.setAttr(hollow, "d", (without || []).map(outline).join(""));
      for (const tick of ticks) BOT.setText(tick.node, says(name, most * SHARE[name](tick.high)));
      BOT.setText(ends[0], n ? BOT.t("panel.runs.prefill_run") : "");
      BOT.setText(ends[1], n > 1 ? BOT.t("panel.runs.run", { n: BOT.num(n) }) : "");
      legend.children[1].hidden = !without;
      root.hidden = name !== "macs";
      none.hidden = !(name === "ms" && !without);
      BOT.setAttr(plot, "aria-label", BOT.t("panel.runs.bar.label", { n: BOT.num(n), measure: BOT.t(NAMES[name]) }));
    }

    function draw(i) {
      at = i;
      if (!series) return;
      tabs.forEach((tab, k) => {
        BOT.setAttr(tab, "aria-selected", MEASURES[k] === shown());
        tab.disabled = !there(MEASURES[k]);
      });
      paint();
      cursor.hidden = i < 0;
      plot.style.setProperty("--n", Math.max(1, count()));
      plot.style.setProperty("--at", Math.max(0, i));
      say(i);
    }

    return { node, draw, set(next) { series = next; } };
  };

  /** Sums as bars to one scale: {node, draw(lines)}. lines: [{key, value, text, hollow}, …], at most 4. */
  BOT.runTotals = () => {
    const lines = Array.from({ length: 4 }, () => {
      const [name, text, bar] = [el("dt"), el("span"), el("i", { "aria-hidden": "true" })];
      return { name, text, bar, node: el("div", { class: "bot-total", hidden: true }, name, el("dd", null, bar, text)) };
    });
    const node = el("dl", { class: "bot-totals" }, lines.map((line) => line.node));
    return {
      node,
      draw(found) {
        const most = {};
        for (const { unit, value } of found) most[unit] = Math.max(most[unit] || 0, value || 0);
        lines.forEach(({ name, text, bar, node: box }, k) => {
          const line = found[k];
          box.hidden = !line;
          if (!line) return;
          BOT.setText(name, line.name);
          BOT.setText(text, line.text);
          BOT.setAttr(box, "title", line.exact || null);
          bar.className = line.hollow ? "is-without" : "is-with";
          bar.style.setProperty("--share", most[line.unit] ? (line.value || 0) / most[line.unit] : 0);
        });
      },
    };
  };
})();

/* The candidates of a step: the chart through the stages, what the draw did, and the table.
 *
 * Every probability comes from the record; nothing here computes a softmax. The chart's bars are
 * Plotly's, loaded when the panel is first seen and redrawn in place, the newest step only when
 * steps come faster than it draws; all that is written around them is plain nodes.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  const NARROW = 760; // below this many pixels one column at a time
  const ROWS = [10, 20, 0];

  /* ---- plotly, once for the page ---- */

  let plotly = null;
  function loadPlotly() {
    if (window.Plotly) return Promise.resolve(window.Plotly);
    plotly = plotly || new Promise((resolve, reject) => {
      const script = el("script", { src: window.BOT_PLOTLY_URL, async: true, on: {
        load: () => (window.Plotly ? resolve(window.Plotly) : reject(new Error("no Plotly in its file"))),
        error: () => reject(new Error("plotly.js could not be fetched")),
      } });
      document.head.append(script);
    }).catch((error) => {
      plotly = null; // the next look at the panel tries again
      throw error;
    });
    return plotly;
  }

  /** The figure with every name of a variable replaced by what the page's style says. */
  function repainted(value, look) {
    if (Array.isArray(value)) return value.map((v) => repainted(v, look));
    if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, repainted(v, look)]));
    return typeof value === "string" && value.startsWith("--bot-") ? look(value) : value;
  }

  /* ---- the chart ---- */

  /** Bars in `box`, words over them, the bar of the draw: {draw(trace, i), resize(width)}. */
  function chart(box, words, bar, options) {
    let busy = false;
    let next = null; // [trace, i] that came while drawing
    let last = null;
    let looks = null; // the traces' styles in the page's colours of now
    let width = 0; // told by an observer: asking for it would lay the page out in mid-step

    function painted() {
      const style = getComputedStyle(box);
      const look = (name) => style.getPropertyValue(name).trim();
      return repainted(window.BOT_FIGURES.candidates.traces, look);
    }

    /** Plain nodes at once; the bars in a frame of their own, when the layout of the other views'
     *  changes is done, and the newest step only. */
    async function draw(trace, i) {
      last = [trace, i];
      width = width || Math.floor(box.clientWidth);
      if (!width) return false;
      const figure = BOT.candidatesFigure(trace, i, { ...options(), width });
      box.style.height = `${figure.layout.height}px`;
      words.draw(trace, i, figure);
      bar.draw(trace, i, figure.draw, width);
      next = figure;
      if (busy) return true;
      busy = true;
      try {
        const Plotly = await loadPlotly();
        while (next) {
          await new Promise(requestAnimationFrame);
          const { data, layout, config } = next;
          next = null;
          looks = looks || painted();
          await Plotly.react(box, data.map((trace_) => ({ ...trace_, ...looks[trace_.name] })), layout, config);
        }
        return true;
      } finally {
        busy = false;
      }
    }

    BOT.onTheme(() => {
      looks = null;
      if (last) draw(...last).catch(() => {});
    });
    return {
      draw,
      resize(to) {
        width = Math.floor(to);
      },
    };
  }

  /* ---- the panel ---- */

  BOT.panel({
    id: "candidates", stage: 4,
    mount(body, ctx) {
      let rows = window.innerWidth < NARROW ? 10 : 20;
      let zoom = false;
      let only = null; // what the narrow page shows: "score" or a stage's number
      let narrow = false;

      const before = BOT.say(el("p", { class: "bot-note bot-note-info" }), "panel.candidates.before");
      const radios = ROWS.map((n) => el("button", { class: "bot-btn", type: "button", role: "radio", "data-bot-keys": "own", on: { click: () => setRows(n) } }, n ? String(n) : ""));
      BOT.say(radios[2], "panel.candidates.all");
      const group = BOT.say(el("div", { class: "bot-choice", role: "radiogroup", on: { keydown: along(radios) } }, radios), "panel.candidates.rows", "aria-label");
      const stretch = BOT.say(el("button", { class: "bot-btn", type: "button", "aria-pressed": "false", on: { click: () => {
        zoom = !zoom;
        BOT.setAttr(stretch, "aria-pressed", zoom);
        draw();
      } } }), "panel.candidates.zoom");
      const tabs = BOT.say(el("div", { class: "bot-tabs", role: "tablist", hidden: true, on: { click: tab, keydown: tabKeys } }), "panel.candidates.columns", "aria-label");
      const box = el("div", { class: "bot-plot" });
      const stage = BOT.say(el("div", { class: "bot-plot-stage", role: "img", dir: "ltr" }, box), "panel.candidates.chart", "aria-label");
      const waiting = el("p", { class: "bot-note bot-note-info", role: "status" });
      const legend = el("ul", { class: "bot-plot-legend" }, ["chosen", "kept", "cut", "rest", "boundary"].map((name) =>
        el("li", null, el("i", { class: `bot-key bot-key-${name}`, "aria-hidden": "true" }, name === "chosen" ? "★" : ""), BOT.say(el("span"), `panel.candidates.legend.${name}`))));
      const strip = el("div");
      const said = el("p", { class: "bot-said-draw" });
      const held = el("p", { class: "bot-note bot-note-warn", hidden: true });
      const content = el("div", { hidden: true },
        el("div", { class: "bot-controls" }, BOT.say(el("span", { class: "bot-label" }), "panel.candidates.rows"), group, stretch),
        tabs, el("div", { class: "bot-plot-wrap" }, waiting, stage), strip, legend, said, held);
      body.append(before, content);
      const table = BOT.candidatesTable(content);
      const plot = chart(box, BOT.candidatesWords(stage), BOT.candidatesDraw(strip), () => ({ rows, zoom, only: narrow ? only : null }));

      function setRows(n) {
        rows = n;
        choices();
        draw();
      }
      function choices() {
        ROWS.forEach((n, k) => {
          BOT.setAttr(radios[k], "aria-checked", n === rows);
          radios[k].tabIndex = n === rows ? 0 : -1;
        });
      }
      /** Arrow keys walk along a group of buttons and press the one they come to. */
      function along(buttons) {
        return (event) => {
          const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
          if (!by) return;
          event.preventDefault();
          const k = buttons.indexOf(event.target);
          const next = buttons[(k + by + buttons.length) % buttons.length];
          next.focus();
          next.click();
        };
      }
      choices();

      /* One column at a time where there is no room for all. */
      const places = (step) => ["score", ...step.stages.map((_, s) => s)];
      function tabsFor(trace, step) {
        tabs.hidden = !narrow;
        if (!narrow) return;
        const all = places(step);
        if (!all.includes(only)) only = step.stages.length - 1;
        while (tabs.children.length < all.length) tabs.append(el("button", { class: "bot-btn", type: "button", role: "tab" }));
        [...tabs.children].forEach((button, k) => {
          button.hidden = k >= all.length;
          if (button.hidden) return;
          const what = all[k];
          BOT.setText(button, typeof what === "number" ? BOT.stageTitle(trace, step.stages[what]) : BOT.t("panel.candidates.score"));
          BOT.setAttr(button, "aria-selected", what === only);
          button.tabIndex = what === only ? 0 : -1;
        });
      }
      function tab(event) {
        const k = [...tabs.children].indexOf(event.target.closest("button"));
        const step = ctx.trace && ctx.trace.steps[ctx.i];
        if (k < 0 || !step) return;
        only = places(step)[k];
        draw();
      }
      function tabKeys(event) {
        along([...tabs.children].filter((b) => !b.hidden))(event);
      }

      /** What decided, in one sentence. */
      function sentence(trace, step) {
        const { probs, tail } = BOT.arrays(step);
        const token = `${BOT.tokenText(step.tok.hex)} (id ${step.tok.id})`;
        if (step.phase === "forced") return BOT.t("panel.candidates.said.forced", { token });
        if (step.draw === null) return BOT.t("panel.candidates.said.greedy", { token, rows: BOT.num(trace.model.vocab_rows) });
        const final = probs[probs.length - 1];
        const k = BOT.chosenAt(step);
        if (k < 0 || (tail[tail.length - 1] > 0 && k >= BOT.leading(step))) {
          return BOT.t("panel.candidates.said.deep", { u: String(step.draw), token, rank: BOT.num(step.rank) });
        }
        let from = 0;
        for (let n = 0; n < k; n++) from += final[n];
        return BOT.t("panel.candidates.said.draw", { u: String(step.draw), token, from: BOT.unit(from), to: BOT.unit(from + final[k]) });
      }

      function draw() {
        const { trace, i } = ctx;
        const step = trace && trace.steps[i];
        before.hidden = Boolean(step);
        content.hidden = !step;
        if (!step) return;
        tabsFor(trace, step);
        BOT.setText(said, sentence(trace, step));
        const bytes = i > 0 ? trace.steps[i - 1].pending : "";
        held.hidden = !bytes;
        if (bytes) BOT.setText(held, BOT.t("panel.candidates.held", { bytes: BOT.hex(bytes) }));
        table.draw(trace, i, rows);
        if (!window.Plotly) BOT.setText(waiting, BOT.t("panel.candidates.loading"));
        plot.draw(trace, i).then((done) => {
          if (done) waiting.hidden = true;
        }, (error) => {
          console.error(error);
          waiting.hidden = false;
          BOT.setText(waiting, BOT.t("panel.candidates.chart_failed"));
        });
      }

      new ResizeObserver(() => {
        const width = body.clientWidth;
        plot.resize(width);
        const now = width > 0 && width < NARROW;
        if (now === narrow && Math.abs(width - seen) < 8) return;
        narrow = now;
        seen = width;
        draw();
      }).observe(body);
      let seen = 0;

      return {
        trace() {
          only = null; // the last stage of this one
        },
        step: draw,
        lang: draw,
      };
    },
  });
})();

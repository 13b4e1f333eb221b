/* The candidates of a step: the chart through the stages, what the draw did, and the table.
 *
 * Every probability comes from the record; nothing here computes a softmax. The chart is Plotly,
 * loaded when the panel is first seen and redrawn in place, the newest step only when steps come
 * faster than it draws.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  const NARROW = 640; // below this many pixels one column at a time
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
  function painted(value, look) {
    if (Array.isArray(value)) return value.map((v) => painted(v, look));
    if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, painted(v, look)]));
    return typeof value === "string" && value.startsWith("--bot-") ? look(value) : value;
  }

  /* ---- the chart ---- */

  function chart(box, options) {
    let busy = false;
    let next = null; // [trace, i] that came while drawing
    let last = null;
    const colours = new Map();
    let width = 0; // told by an observer: asking for it would lay the page out in mid-step

    const look = (name) => {
      if (!colours.has(name)) colours.set(name, getComputedStyle(box).getPropertyValue(name).trim());
      return colours.get(name);
    };

    async function draw(trace, i) {
      last = [trace, i];
      if (busy) {
        next = last;
        return;
      }
      busy = true;
      try {
        const Plotly = await loadPlotly();
        do {
          // In a frame of its own, when the layout of the other views' changes is done: Plotly
          // asks the page for sizes.
          await new Promise(requestAnimationFrame);
          const [t, k] = next || last;
          next = null;
          width = width || Math.floor(box.clientWidth);
          if (!width || !t.steps[k]) continue;
          const { data, layout, config } = BOT.candidatesFigure(t, k, { ...options(), width });
          // Only style and layout hold names of colours; a token's text is never looked at.
          const styled = data.map((trace_) => {
            const { x, y, base, text, hovertext, ...style } = trace_;
            return Object.assign(painted(style, look), { x, y, base, text, hovertext });
          });
          const { yaxis: { ticktext, ...yaxis }, ...rest } = layout;
          const ground = painted({ ...rest, yaxis }, look);
          ground.yaxis.ticktext = ticktext;
          await Plotly.react(box, styled, ground, config);
        } while (next);
        return true;
      } finally {
        busy = false;
      }
    }

    BOT.onTheme(() => {
      colours.clear();
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
      let only = null; // what the narrow page shows: "score", a stage's number, "draw"
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
      const box = BOT.say(el("div", { class: "bot-plot", role: "img", dir: "ltr" }), "panel.candidates.chart", "aria-label");
      const waiting = el("p", { class: "bot-note bot-note-info", role: "status" });
      const legend = el("ul", { class: "bot-plot-legend" }, ["chosen", "kept", "cut", "rest", "boundary"].map((name) =>
        el("li", null, el("i", { class: `bot-key bot-key-${name}`, "aria-hidden": "true" }, name === "chosen" ? "★" : ""), BOT.say(el("span"), `panel.candidates.legend.${name}`))));
      const said = el("p", { class: "bot-said-draw" });
      const held = el("p", { class: "bot-note bot-note-warn", hidden: true });
      const content = el("div", { hidden: true },
        el("div", { class: "bot-controls" }, BOT.say(el("span", { class: "bot-label" }), "panel.candidates.rows"), group, stretch),
        tabs, el("div", { class: "bot-plot-wrap" }, waiting, box), legend, said, held);
      body.append(before, content);
      const table = BOT.candidatesTable(content);
      const plot = chart(box, () => ({ rows, zoom, only: narrow ? only : null }));

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
      const places = (step) => ["score", ...step.stages.map((_, s) => s), ...(step.draw === null ? [] : ["draw"])];
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
          BOT.setText(button, typeof what === "number" ? BOT.stageTitle(trace, step.stages[what]) : BOT.t(`panel.candidates.${what}`));
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

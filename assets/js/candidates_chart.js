/* The candidates' chart: the arrays of one step, filled into the figure that Python defines.
 *
 * BOT_FIGURES.candidates (playground/views/style_candidates.py) has the look of every trace, the
 * layout and the sizes; `playground/views/candidates.py` fills in the same, and a test holds both
 * equal. All columns of probabilities share one axis: column k starts at `base` k × pitch, so a
 * bar's length is the recorded number itself. Plotly gets numbers only: what is written around
 * the bars is `words`, for candidates_words.js.
 */
"use strict";
(() => {
  const BOT = window.BOT;

  /* ---- what of a step is drawn ---- */

  /** The place of the choice among the listed, or -1. */
  BOT.chosenAt = (step) => step.ids.indexOf(step.tok.id);

  const lastKept = (flags) => flags.lastIndexOf(1);
  const count = (flags) => flags.reduce((sum, flag) => sum + flag, 0);

  /** How many of the listed are surely the first of the whole order, no gap between. */
  BOT.leading = (step) => {
    const { logits, kept } = BOT.arrays(step);
    let n = step.ids.length;
    const at = BOT.chosenAt(step);
    if (at >= 0 && step.rank - 1 > logits.slice(0, at).filter((v) => v > logits[at]).length) n = at;
    const final = kept[kept.length - 1];
    const counts = step.kept_count;
    const end = lastKept(final);
    if (end >= 0 && counts[counts.length - 1] < counts[0] && counts[counts.length - 1] > count(final)) n = Math.min(n, end);
    return n;
  };

  /** The places to draw: the first ones, and in place of the last ones the choice and the last
   *  token still kept, where those lie further down. rows 0: all. */
  BOT.shownRows = (step, rows) => {
    const { kept } = BOT.arrays(step);
    const c = step.ids.length;
    const n = rows ? Math.min(rows, c) : c;
    const must = new Set();
    if (BOT.chosenAt(step) >= 0) must.add(BOT.chosenAt(step));
    const final = kept[kept.length - 1];
    const counts = step.kept_count;
    if (lastKept(final) >= 0 && counts[counts.length - 1] < counts[0]) must.add(lastKept(final));
    const first = step.ids.map((_, k) => k).filter((k) => !must.has(k)).slice(0, Math.max(0, n - must.size));
    return [...first, ...must].sort((a, b) => a - b);
  };

  /** "top-k 20": a stage's name with its setting. */
  BOT.stageTitle = (trace, name) => BOT.t(`panel.candidates.stage.${name}`, { value: trace.params[name] || 0 });

  /** A running sum between 0 and 1: five places, more where it would round to 0 or 1. */
  BOT.unit = (x) => {
    if (x === 0 || x === 1) return String(x);
    for (let places = 5; places < 17; places++) {
      const text = x.toFixed(places);
      if (Number(text) !== 0 && Number(text) !== 1) return text;
    }
    return String(x);
  };

  /* ---- the figure ---- */

  const say = (key, values) => BOT.t(`panel.candidates.${key}`, values);

  /** The last stage laid end to end in the order of the draw: {parts: [[place, from, p]],
   *  rest: [from, p] or null, u}; null where nothing was drawn. */
  function drawOf(step) {
    if (step.draw === null) return null;
    const { probs, kept, tail } = BOT.arrays(step);
    const final = probs.length - 1;
    const n = tail[final] === 0 ? step.ids.length : BOT.leading(step);
    const parts = [];
    let running = 0;
    for (let k = 0; k < n; k++) {
      const p = probs[final][k];
      if (!kept[final][k]) continue;
      parts.push([k, running, p]);
      running += p;
    }
    let rest = tail[final];
    for (let k = n; k < step.ids.length; k++) rest += probs[final][k];
    return { parts, rest: rest > 0 ? [running, rest] : null, u: step.draw };
  }

  /** {data, layout, config, words, draw} of step i, unpainted: see `figure` in Python. */
  BOT.candidatesFigure = (trace, i, { rows = 20, only = null, zoom = false, width = 960 } = {}) => {
    const { traces, layout: ground, sizes, config } = window.BOT_FIGURES.candidates;
    const step = trace.steps[i];
    const { logits, probs, kept, tail } = BOT.arrays(step);
    const shown = BOT.shownRows(step, rows);
    const isShown = new Set(shown);
    const hidden = step.ids.map((_, k) => k).filter((k) => !isShown.has(k));
    const chosen = BOT.chosenAt(step);
    const stages = step.stages.map((_, s) => s).filter((s) => only === null || only === s);
    const most = shown.length ? Math.max(...probs.flatMap((row) => shown.map((k) => row[k]))) : 1;
    const top = zoom ? sizes.tops.find((t) => t >= most || t === 1) : 1;
    const left = only === null ? sizes.left : sizes.left_narrow;
    const plot = width - left - sizes.right;
    const score = only === null ? Math.max(sizes.score_least, Math.floor(plot * sizes.score)) : plot;
    const rest = hidden.length ? [say("more_row", { n: hidden.length })] : [];
    rest.push(say("tail_row", { n: BOT.num(trace.model.vocab_rows - step.ids.length) }));
    const columns = [];
    const arrays = {};
    for (const name of Object.keys(traces)) arrays[name] = { x: [], y: [], base: [] };
    const bar = (name, x, y, base) => {
      arrays[name].x.push(x);
      arrays[name].y.push(y);
      arrays[name].base.push(base);
    };

    // Raw logits, bars from 0.
    // A forced token may have been masked: its logit is -inf, and a bar can not say that.
    const finite = logits.filter(Number.isFinite);
    const low = Math.min(0, 10 * Math.floor(Math.min(...(finite.length ? finite : [0])) / 10));
    const high = Math.max(0, 10 * Math.ceil(Math.max(...(finite.length ? finite : [0])) / 10));
    const span = high - low || 1;
    const scoreLong = score - sizes.number - sizes.between;
    const scoreBefore = sizes.number * (span / scoreLong);
    const xaxis = { range: [low - scoreBefore, low - scoreBefore + score * (span / scoreLong)], domain: [0, score / plot] };
    if (only === null || only === "score") {
      shown.forEach((k, y) => {
        if (Number.isFinite(logits[k])) bar(k === chosen ? "score_chosen" : "score", logits[k], y, 0);
      });
      const marks = [...new Set([low, 0, high].map((v) => v + 0))].sort((a, b) => a - b);
      columns.push({
        at: "score", left, width: score, title: say("score"), sub: say("score_sub"), numbers: shown.map((k) => BOT.sig(logits[k])), cut: null,
        ticks: marks.map((v) => [left + sizes.number + (v - low) * (scoreLong / span), Math.abs(v) < 1e6 ? String(v) : BOT.sig(v)]),
      });
    }

    // Every stage's probabilities, one column each; what it cut, hollow, with its length before.
    const start = only === null ? score : 0;
    const n = Math.max(1, stages.length);
    const wide = Math.floor((plot - start) / n);
    const long = wide - sizes.number - sizes.between;
    const before = sizes.number * (top / long);
    const pitch = wide * (top / long);
    const xaxis2 = { range: [-before, n * pitch - before], domain: [start / plot, (start + n * wide) / plot] };
    stages.forEach((s, column) => {
      const base = column * pitch;
      let last = -1;
      const numbers = shown.map((k, y) => {
        const stays = kept[s][k];
        if (!stays && !(s && kept[s - 1][k])) return "";
        const p = stays ? probs[s][k] : probs[s - 1][k];
        if (stays) last = y;
        bar(!stays ? "cut" : k === chosen ? "chosen" : "kept", p, y, base);
        return stays ? BOT.prob(p) : "✕";
      });
      const others = hidden.length ? [hidden.reduce((sum, k) => sum + probs[s][k], 0), tail[s]] : [tail[s]];
      others.forEach((p, y) => {
        // Too long for a stretched scale: no bar is better than one that ends too soon.
        const fits = p <= top || top === 1;
        if (fits) bar("rest", p, shown.length + y, base);
        numbers.push(fits ? BOT.prob(p) : `» ${BOT.prob(p)}`);
      });
      const cuts = s > 0 && step.kept_count[s] < step.kept_count[s - 1] && last < shown.length - 1;
      const from = left + start + column * wide;
      columns.push({
        at: s, left: from, width: wide, title: BOT.stageTitle(trace, step.stages[s]), sub: say("keeps", { n: BOT.num(step.kept_count[s]) }),
        numbers, cut: cuts ? last : null, ticks: [[from + sizes.number, "0"], [from + sizes.number + long, BOT.prob(top)]],
      });
    });

    const lines = shown.length + rest.length;
    const margin = { ...ground.margin, l: left };
    const layout = {
      ...ground, width, height: sizes.row * lines + margin.t + margin.b, margin, template: "none",
      xaxis: { ...ground.xaxis, ...xaxis }, xaxis2: { ...ground.xaxis2, ...xaxis2 }, yaxis: { ...ground.yaxis, range: [lines - 0.5, -0.5] },
    };
    const data = Object.entries(traces).map(([name, look]) => ({ ...look, name, ...arrays[name] }));
    return { data, layout, config, words: { shown, rest, columns }, draw: drawOf(step) };
  };
})();

/* The candidates' chart: the arrays of one step, filled into the figure that Python defines.
 *
 * BOT_FIGURES.candidates (playground/views/style_candidates.py) has the look of every trace, the
 * layout and the sizes; `playground/views/candidates.py` fills in the same arrays for an export,
 * and a test holds both equal. All columns of probabilities share one axis: column k starts at
 * `base` k × pitch, so a bar's length is the recorded number itself. Plotly reads tags, entities
 * and TeX in every label: a token's text goes through `escape`.
 */
"use strict";
(() => {
  const BOT = window.BOT;

  /* ---- labels ---- */

  const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;" };
  const escape = (text) => text.replace(/[&<>$]/g, (c) => ENTITIES[c]);
  const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

  /** Text for a label: invisible characters marked, at most `most` columns wide, isolated. */
  function label(text, most) {
    let out = "";
    let used = 0;
    for (const [kind, run] of BOT.marks(text)) {
      let part = "";
      for (const c of run) {
        used += WIDE.test(c) ? 2 : 1;
        if (used > most) break;
        part += c;
      }
      out += kind !== "text" && part ? `<span style="fill-opacity:0.55">${escape(part)}</span>` : escape(part);
      if (used > most) {
        out += "…";
        break;
      }
    }
    return `\u2068${out}\u2069`;
  }

  /** A token: its text; else its bytes and the character they complete after the held bytes, or
   *  "+k", the bytes still needed. */
  function pieceLabel(hex, held, most) {
    const alone = BOT.piece(hex);
    if (alone.text !== null) return label(alone.text, most);
    const together = BOT.piece(hex, held);
    const bytes = `⟨${BOT.hex(hex)}⟩`;
    if (together.text !== null) return `${escape(bytes)} → ${label(together.text, most)}`;
    const more = together.missing || alone.missing;
    return escape(more ? `${bytes} +${more}` : bytes);
  }

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

  /** A share of all probability. Only a file that lies can say more than 1, and it is shown. */
  BOT.share = (p) => (p > 1.5 ? `${BOT.sig(100 * p, 3)}%` : BOT.prob(p));

  /* ---- the figure ---- */

  const say = (key, values) => BOT.t(`panel.candidates.${key}`, values);

  /** {data, layout, config} of step i, unpainted. options: {rows, only, zoom, width}. */
  BOT.candidatesFigure = (trace, i, { rows = 20, only = null, zoom = false, width = 960 } = {}) => {
    const { traces: looks, layout: ground, sizes, config } = window.BOT_FIGURES.candidates;
    const step = trace.steps[i];
    const held = i > 0 ? trace.steps[i - 1].pending : "";
    const { logits, probs, kept, tail } = BOT.arrays(step);
    const final = probs.length - 1;
    const shown = only === "draw" ? [] : BOT.shownRows(step, rows);
    const isShown = new Set(shown);
    const hidden = step.ids.map((_, k) => k).filter((k) => !isShown.has(k));
    const chosen = BOT.chosenAt(step);
    const lead = BOT.leading(step);
    const special = new Set(step.special);
    const stages = step.stages.map((_, s) => s).filter((s) => only === null || only === s);
    const more = probs.map((row) => hidden.reduce((sum, k) => sum + row[k], 0));
    const most = shown.length ? Math.max(...probs.flatMap((row) => shown.map((k) => row[k]))) : 1;
    const top = zoom ? sizes.tops.find((t) => t >= most || t === 1) : 1;
    const left = only === null ? sizes.left : sizes.left_narrow;
    const plot = width - left - sizes.right;
    const unlisted = BOT.num(trace.model.vocab_rows - step.ids.length);
    const drawn = step.draw !== null && (only === null || only === "draw");

    const arrays = {};
    for (const [name, look] of Object.entries(looks)) {
      arrays[name] = look.type === "bar" ? { x: [], y: [], base: [], hovertext: [] } : look.mode === "lines" ? { x: [], y: [] } : { x: [], y: [], text: [] };
    }
    const words = (name, x, y, text) => {
      arrays[name].x.push(x);
      arrays[name].y.push(y);
      arrays[name].text.push(text);
    };
    /** Numbers below one another, one for each row, as one text. */
    const column = (name, x, numbers) => words(name, x, (numbers.length - 1) / 2,
      `<span style="font-size:${sizes.value}px">${numbers.map((n) => n || "\u00a0").join("<br>")}</span>`);
    const bar = (name, x, y, base, who, value) => {
      arrays[name].x.push(x);
      arrays[name].y.push(y);
      arrays[name].base.push(base);
      arrays[name].hovertext.push(`${who}<br>${value}`);
    };
    const nameOf = (k, columns) => (BOT.hexes(step)[k]
      ? pieceLabel(BOT.hexes(step)[k], special.has(k) ? "" : held, columns) : escape(say("no_token")));
    const whos = [];
    const who = (k) => (whos[k] = whos[k] || `${nameOf(k, 200)} · id ${step.ids[k]}`);
    const rowLabel = (k, y) => {
      const rank = k < lead ? k + 1 : k === chosen ? step.rank : null;
      const skipped = rank !== null && rank !== y + 1;
      const name = nameOf(k, sizes.label);
      return `${k === chosen ? `<b>★ ${name}</b>` : name}<span style="font-size:10px;fill-opacity:0.7">`
        + ` ${step.ids[k]}${skipped ? ` #${BOT.num(rank)}` : ""}</span>`;
    };

    // Raw logits, bars from 0.
    // A forced token may have been masked: its logit is -inf, and a bar can not say that.
    const finite = logits.filter(Number.isFinite);
    const low = Math.min(0, 10 * Math.floor(Math.min(...(finite.length ? finite : [0])) / 10));
    const high = Math.max(0, 10 * Math.ceil(Math.max(...(finite.length ? finite : [0])) / 10));
    const span = high - low || 1;
    /** Units before a column's bars, for their numbers, and of the whole column. */
    const scale = (pixels, end) => {
      const unit = end / (pixels - sizes.number - sizes.between);
      return [sizes.number * unit, pixels * unit];
    };
    const [scoreBefore, scoreWhole] = scale(plot * (only === null ? sizes.score_to : 1), span);
    const scoreTicks = [...new Set([low, 0, high].map((v) => v + 0))].sort((a, b) => a - b);
    const withScore = (only === null || only === "score") && shown.length > 0;
    if (withScore) {
      shown.forEach((k, y) => {
        if (!Number.isFinite(logits[k])) return;
        bar(k === chosen ? "score_chosen" : "score", logits[k], y, 0, who(k), `${say("score")}: ${BOT.sig(logits[k], 5)}`);
      });
      column("score_values", low - 0.06 * scoreBefore, shown.map((k) => BOT.sig(logits[k])));
      words("score_head", low + 0.06 * scoreBefore, -0.55, `<b>${say("score")}</b><br>${say("score_sub")}`);
    }

    // Every stage's probabilities, one column each; what it cut, hollow, with its length before.
    const part = only === null ? 1 - sizes.probs_from : 1;
    const [before, pitch] = scale((plot * part) / Math.max(1, stages.length), top);
    stages.forEach((s, place) => {
      const base = place * pitch;
      const title = BOT.stageTitle(trace, step.stages[s]);
      let last = -1;
      const numbers = shown.map(() => "");
      shown.forEach((k, y) => {
        const stays = kept[s][k];
        if (!stays && !(s && kept[s - 1][k])) return;
        const p = stays ? probs[s][k] : probs[s - 1][k];
        if (stays) last = y;
        bar(!stays ? "cut" : k === chosen ? "chosen" : "kept", p, y, base, who(k), `${title}: ${stays ? BOT.share(p) : say("cut_here")}`);
        numbers[y] = stays ? BOT.share(p) : "✕";
      });
      if (s && step.kept_count[s] < step.kept_count[s - 1] && last < shown.length - 1) {
        arrays.boundary.x.push(base - 0.85 * before, base + top, null);
        arrays.boundary.y.push(last + 0.5, last + 0.5, null);
      }
      const rest = hidden.length ? [[more[s], say("more_hover", { n: hidden.length })]] : [];
      rest.push([tail[s], say("tail_hover", { n: unlisted })]);
      rest.forEach(([p, name], y) => {
        // Too long for a stretched scale: no bar is better than one that ends too soon.
        const fits = p <= top || top === 1;
        if (fits) bar("rest", p, shown.length + y, base, name, `${title}: ${BOT.share(p)}`);
        numbers.push(fits ? BOT.share(p) : `» ${BOT.share(p)}`);
      });
      column("values", base - 0.06 * before, numbers);
      words("heads", base + 0.06 * before, -0.55, `<b>${title}</b><br>${say("keeps", { n: BOT.num(step.kept_count[s]) })}`);
    });

    // The last stage laid end to end in the order of the draw, and u on it.
    if (drawn) {
      const n = tail[final] === 0 ? step.ids.length : lead;
      let running = 0;
      for (let k = 0; k < n; k++) {
        const p = probs[final][k];
        if (!kept[final][k]) continue;
        bar(k === chosen ? "segment_chosen" : "segments", p, 0, running, who(k), `${BOT.unit(running)} … ${BOT.unit(running + p)}`);
        const units = Math.floor((p * plot) / 8) - 1;
        if (units >= 3) words(k === chosen ? "segment_name_chosen" : "segment_names", running + p / 2, 0, nameOf(k, units));
        running += p;
      }
      let rest = tail[final];
      for (let k = n; k < step.ids.length; k++) rest += probs[final][k];
      if (rest > 0) bar("segment_rest", rest, 0, running, say("draw_rest"), BOT.share(rest));
      words("u", step.draw, 0.85, ` u = ${BOT.unit(step.draw)} `);
      words("u", step.draw, -0.5, "");
      arrays.u.textposition = step.draw < 0.75 ? "middle right" : "middle left";
    }

    // Ranges, domains and ticks: pixels of each part over the pixels of all.
    const labels = shown.map(rowLabel);
    if (shown.length) {
      if (hidden.length) labels.push(escape(say("more_row", { n: hidden.length })));
      labels.push(escape(say("tail_row", { n: unlisted })));
    }
    const above = shown.length ? sizes.row * (labels.length - 0.4 + sizes.head) : 0;
    const below = drawn ? sizes.draw * 1.8 : 0;
    const gap = above && below ? sizes.gap : 0;
    const whole = above + below + gap;
    const both = withScore && stages.length > 0;
    const axes = {
      xaxis: {
        range: [low - scoreBefore, low - scoreBefore + scoreWhole], domain: [0, both ? sizes.score_to : 1], visible: withScore,
        tickvals: scoreTicks, ticktext: scoreTicks.map((v) => (Math.abs(v) < 1e6 ? String(v) : BOT.sig(v))),
      },
      xaxis2: {
        domain: [both ? sizes.probs_from : 0, 1], visible: stages.length > 0, range: [-before, Math.max(1, stages.length) * pitch - before],
        tickvals: stages.flatMap((_, k) => [k * pitch, k * pitch + top]), ticktext: stages.flatMap(() => ["0", BOT.share(top)]),
      },
      xaxis3: { visible: drawn },
      yaxis: {
        domain: shown.length ? [(below + gap) / whole, 1] : [0.99, 1], visible: shown.length > 0,
        range: [labels.length - 0.4, -sizes.head], ticktext: labels, tickvals: labels.map((_, k) => k),
      },
      yaxis2: { domain: drawn ? [0, below / whole] : [0, 0.01], visible: drawn, ticktext: [escape(say("draw_row"))] },
    };
    const margin = { ...ground.margin, l: left };
    const layout = { ...ground, width, height: Math.floor(whole + 0.5) + margin.t + margin.b, margin, template: "none" };
    for (const [axis, own] of Object.entries(axes)) layout[axis] = { ...ground[axis], ...own };
    const data = Object.entries(looks).map(([name, look]) => ({ ...look, name, ...arrays[name] }));
    return { data, layout, config };
  };
})();

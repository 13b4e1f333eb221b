/* What attention and q, k, v have in common: which head and which position, asked for in one row of
 * controls, and the numbers of that head, fetched when the reader moves to it.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, inside } = BOT;
  const PATIENCE_MS = 200; // what comes sooner needs no word about waiting

  BOT.attention = {};

  const named = new WeakMap(); // data -> names of its positions
  /** The token at every position, as plain strings for labels. */
  BOT.attention.names = (data) => {
    if (!named.has(data)) {
      named.set(data, Array.from(data.ids.data, (_, p) => BOT.tokenText(inside.token(data, p).hex) || "∅"));
    }
    return named.get(data);
  };

  /** The position that answers at step i; before the first step, the one that will. */
  BOT.attention.answering = (data, i) => data.n_prompt - 1 + Math.max(0, Math.min(i, data.chosen.data.length - 1));

  const placed = new WeakMap(); // head's numbers -> row of each query position
  const rowOf = (found, p) => {
    if (!placed.has(found)) placed.set(found, new Map(Array.from(found.rows.data, (q, r) => [q, r])));
    return placed.get(found).get(p);
  };

  /** What position p reads with this head: {row, scores, weights [T], seen: visible keys, peak: the
   *  first of the strongest, most: its weight, rest: the largest weight but that of position 0};
   *  null where the row was not kept. */
  BOT.attention.reads = (found, p) => {
    const row = rowOf(found, p);
    if (row === undefined) return null;
    const scores = found.scores.row(row);
    const weights = found.weights.row(row);
    const seen = [];
    let rest = 0;
    for (let k = 0; k < scores.length; k++) {
      if (scores[k] === -Infinity) continue;
      seen.push(k);
      if (k > 0) rest = Math.max(rest, weights[k]);
    }
    const peak = BOT.argmax(weights);
    return { row, scores, weights, seen, peak, most: weights[peak], rest };
  };

  /** The weight of the full shade: the largest, or the largest but that of position 0. */
  BOT.attention.fullShade = (read, aside) => (aside && read.rest > 0 ? read.rest : read.most) || 1;

  /** A weight in few characters; never 0 or 100 % unless it is that. */
  BOT.attention.briefly = (w) => {
    if (!(w > 0) || w === 1) return w === 0 ? "0%" : w === 1 ? "100%" : BOT.prob(w);
    if (w < 0.001) return "<0.1%";
    return w > 0.99 ? ">99%" : `${BOT.sig(100 * w, 2)}%`;
  };

  const norms = new WeakMap(); // an array [T, E] -> length of each of its rows
  BOT.attention.lengths = (rows) => {
    if (!norms.has(rows)) {
      norms.set(rows, Float64Array.from({ length: rows.shape[0] }, (_, p) => Math.sqrt(rows.row(p).reduce((sum, x) => sum + x * x, 0))));
    }
    return norms.get(rows);
  };

  /** Heat maps differ in the height of a row, which is fixed when one is made: one of each kind.
   *  heats(box, make(tall)) -> (tall) -> the heat, now in `box`. */
  BOT.attention.heats = (box, make) => {
    const made = new Map();
    return (tall) => {
      if (!made.has(tall)) made.set(tall, make(tall));
      const { node } = made.get(tall);
      if (box.firstChild !== node) box.replaceChildren(node);
      return made.get(tall);
    };
  };

  /** bar({ctx, apply(found), stale(on)}) -> {node, inside(data), step(), focus(), lang(),
   *  position()}. apply: another head's numbers, or null where there are none to show (the bar says
   *  why), or the same ones where only the position is another. stale: what is shown is about to go. */
  BOT.attention.bar = ({ ctx, apply, stale }) => {
    let data = null;
    let shown = null; // the head's numbers
    let says = null; // () -> the sentence in place of numbers
    let timer = 0;

    const layer = BOT.dial({ key: "ui.inside.layer", get: () => ctx.focus.layer, set: (n) => ctx.setFocus({ layer: n }) });
    const head = BOT.dial({ key: "ui.inside.head", get: () => ctx.focus.head, set: (n) => ctx.setFocus({ head: n }) });
    const place = BOT.dial({ key: "panel.attention.position", name: (p) => `${p}  ${BOT.attention.names(data)[p]}`,
      get: position, set: (p) => ctx.setFocus({ query: p }) });
    const follow = BOT.say(el("button", { class: "bot-chip bot-att-follow", type: "button", on: { click: () => ctx.setFocus({ query: null }) } }), "panel.attention.follow");
    const status = el("p");
    const retry = BOT.say(el("button", { class: "bot-btn", type: "button", on: { click: ask } }), "panel.attention.retry");
    const note = el("div", { class: "bot-note bot-note-info", role: "status", hidden: true }, status, retry);
    const dials = el("div", { class: "bot-dials" }, layer.node, head.node, place.node, follow);
    const node = el("div", { class: "bot-att-bar" }, dials, note);

    function position() {
      const { query } = ctx.focus;
      return query === null || query >= data.ids.data.length ? BOT.attention.answering(data, ctx.i) : query;
    }

    function say(sentence, bad = false) {
      clearTimeout(timer);
      says = sentence;
      note.hidden = !sentence;
      retry.hidden = !bad;
      note.classList.toggle("bot-note-bad", bad);
      note.classList.toggle("bot-note-info", !bad);
      if (sentence) BOT.setText(status, sentence());
    }

    const latest = BOT.latest((found) => {
      shown = found;
      if (found) say(null);
      stale(false);
      apply(found);
    }, (error) => {
      shown = null;
      say(() => BOT.pick(error.text) || BOT.t("ui.inside.failed"), true);
      stale(false);
      apply(null);
    });

    /** Why this head can not be asked for, or null. */
    function blocked() {
      if (!data.heads) return () => BOT.inside.missing(data, "heads") || BOT.t("panel.attention.unseen");
      if (!data.layers.includes(ctx.focus.layer)) return () => BOT.t("ui.inside.not_recorded");
      return null;
    }

    function ask() {
      const why = blocked();
      if (why) {
        say(why);
        return latest(Promise.resolve(null));
      }
      stale(true);
      clearTimeout(timer);
      timer = setTimeout(() => say(() => BOT.t("panel.attention.pending")), PATIENCE_MS);
      return latest(data.head(ctx.focus.layer, ctx.focus.head));
    }

    function drawPlace() {
      place.draw();
      BOT.setAttr(follow, "aria-pressed", ctx.focus.query === null);
    }

    return {
      node, position,
      inside(next) {
        data = next;
        shown = null;
        dials.hidden = !data.heads;
        layer.set(data.model.n_layers, (n) => data.layers.includes(n));
        head.set(data.model.n_heads);
        place.set(data.ids.data.length);
        stale(false);
        apply(null);
      },
      step: drawPlace,
      focus() {
        layer.draw();
        head.draw();
        drawPlace();
        const same = shown && shown.layer === ctx.focus.layer && shown.head === ctx.focus.head;
        if (same) latest(Promise.resolve(shown));
        else ask();
      },
      lang() {
        if (says) BOT.setText(status, says());
      },
    };
  };
})();

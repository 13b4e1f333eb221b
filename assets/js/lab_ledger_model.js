/* The byte ledger as columns: one for each byte of the normalised text, in order, with the character
 * it is of and the piece it is in. Bytes that no piece has, and what the tokenizer put in, get
 * columns of their own. Characters, pieces and columns are places, never text.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const utf8 = new TextEncoder();
  const NONE = -1;

  /** Code points that stand for themselves, and groups that normalisation rewrites together:
   *  [{a, b, into}], places in the text; into is null where nothing changed. */
  function unitsOf(n, rewrites) {
    const units = [];
    let at = 0;
    for (const [start, end, into] of [...rewrites, [n, n, null]]) {
      for (; at < start; at++) units.push({ a: at, b: at + 1, into: null });
      if (into !== null) units.push({ a: start, b: end, into });
      at = Math.max(at, end);
    }
    return units;
  }

  /** Places where a character as a reader sees it begins, none inside of a unit; with the end. */
  function graphemes(text, units) {
    const starts = new Set(units.map((unit) => unit.a));
    if (!Intl.Segmenter) return [...starts, [...text].length];
    const found = [];
    let at = 0;
    for (const { segment } of new Intl.Segmenter("und", { granularity: "grapheme" }).segment(text)) {
      if (starts.has(at)) found.push(at);
      at += [...segment].length;
    }
    return [...found, at];
  }

  /** Lay out the columns. For each: its byte (NONE: it has none), unit, and piece (NONE: none). */
  function columns(data, chars, units) {
    const [byte, unit, piece] = [[], [], []];
    const push = (b, u, p) => {
      byte.push(b);
      unit.push(u);
      piece.push(p);
    };
    const raw = units.map(({ a, into }) => (into === null && chars[a] < "\x80" ? [chars[a].charCodeAt(0)] : utf8.encode(into === null ? chars[a] : into)));
    const missing = new Uint8Array(chars.length);
    for (const at of data.lost) missing[at] = 1;
    const lossy = (u) => missing.subarray(units[u].a, units[u].b).includes(1);
    let [u, k] = [0, 0]; // the next byte of the text: unit u, its k-th

    function settle() { // what normalisation took away altogether
      while (u < units.length && raw[u].length === 0) push(NONE, u++, NONE);
    }
    function take(p) {
      push(raw[u][k], u, p);
      if (++k === raw[u].length) {
        [u, k] = [u + 1, 0];
        settle();
      }
    }
    settle();
    data.ids.forEach((_, p) => {
      const [start, end] = data.spans[p];
      const own = BOT.unhex(data.hexes[p]);
      const kind = data.kinds[p];
      if (start < end) while (u < units.length && units[u].b <= start) take(NONE);
      const first = byte.length;
      const here = () => u < units.length && units[u].a < end;
      if (kind === "unknown" || kind === "added") while (here()) take(p); // it stands for all of them
      else for (const b of own) {
        while (start < end && here() && raw[u][k] !== b && lossy(u)) take(NONE);
        if (start < end && here() && raw[u][k] === b) take(p);
        else push(b, NONE, p); // the tokenizer put it in
      }
      if (byte.length === first) push(NONE, NONE, p);
    });
    while (u < units.length) take(NONE);
    return { byte, unit, piece };
  }

  /** [from, to) in columns of each value of `of`. */
  function ranges(of, n) {
    const found = Array.from({ length: n }, () => [0, 0]);
    of.forEach((value, c) => {
      if (value === NONE) return;
      if (found[value][1] === 0) found[value][0] = c;
      found[value][1] = c + 1;
    });
    return found;
  }

  /** A ledger's payload ready to be shown. Adds to it: chars (code points), units with `cols`, seen
   *  (characters as read: {a, b, cols}), byte, unit, piece (by column), cols (of each piece), held
   *  (bytes that each piece goes on from, hex), rows (of the table), how it is written. */
  BOT.ledgerModel = (data) => {
    const chars = [...data.text];
    const units = unitsOf(chars.length, data.rewrites);
    const { byte, unit, piece } = columns(data, chars, units);
    ranges(unit, units.length).forEach((cols, u) => { units[u].cols = cols; });
    const unitAt = new Int32Array(chars.length);
    units.forEach(({ a, b }, u) => unitAt.fill(u, a, b));
    const bounds = graphemes(data.text, units);
    const seen = bounds.slice(0, -1).map((a, k) => {
      const b = bounds[k + 1];
      return { a, b, cols: [units[unitAt[a]].cols[0], units[unitAt[b - 1]].cols[1]] };
    });
    const cols = ranges(piece, data.ids.length);

    let joined = ""; // the last bytes, enough for a character begun
    const held = data.hexes.map((hex, p) => {
      const before = data.before[p] ? joined.slice(-2 * data.before[p]) : "";
      joined = (joined + hex).slice(-8);
      return before;
    });

    const rows = []; // {piece} or {from, to}: columns that no piece has
    const rowOf = new Int32Array(data.ids.length);
    for (let c = 0, open = null; c < byte.length; c++) {
      const p = piece[c];
      if (p !== NONE && cols[p][0] === c) {
        rowOf[p] = rows.length;
        rows.push({ piece: p });
      }
      if (p !== NONE) open = null;
      else if (open) open.to = c + 1;
      else rows.push((open = { piece: NONE, from: c, to: c + 1 }));
    }
    const how = BOT.spelling.manner(data.written, data.hexes, (p) => data.kinds[p] === "added" || data.kinds[p] === "unknown");
    return { ...data, chars, units, unitAt, seen, byte, unit, piece, cols, held, rows, rowOf, how };
  };

  /** Where two ledgers (payloads) of one text differ: [{a, b, one: [from, to], other: [from, to]}], the characters
   *  a … b and the pieces of either. */
  BOT.ledgerDiff = (one, other) => {
    const found = [];
    let [i, j] = [0, 0];
    const end = (model, k) => model.spans[k][1];
    const open = (model, k, at) => k < model.ids.length && model.spans[k][0] < at;
    while (i < one.ids.length || j < other.ids.length) {
      const alike = i < one.ids.length && j < other.ids.length && one.ids[i] === other.ids[j]
        && one.spans[i].join() === other.spans[j].join();
      if (alike) {
        [i, j] = [i + 1, j + 1];
        continue;
      }
      const [from, to] = [i, j];
      const a = Math.min(...[[one, i], [other, j]].filter(([m, k]) => k < m.ids.length).map(([m, k]) => m.spans[k][0]));
      let b = a;
      do {
        if (i < one.ids.length && (i === from || open(one, i, b))) b = Math.max(b, end(one, i++));
        if (j < other.ids.length && (j === to || open(other, j, b))) b = Math.max(b, end(other, j++));
      } while (open(one, i, b) || open(other, j, b));
      found.push({ a, b, one: [from, i], other: [to, j] });
    }
    return found;
  };
})();

/* A text's bytes as columns, and what lies over them.
 *
 * Bytes are the one measure that words, characters and pieces have in common: a piece of any
 * vocabulary covers some columns, also where it is a part of a character.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const utf8 = new TextEncoder();

  /** columns(text) -> {chars: its code points, at: columns before each of them and before the end,
   *  bytes}. */
  BOT.columns = (text) => {
    const chars = [...text];
    const at = new Uint32Array(chars.length + 1);
    chars.forEach((c, k) => {
      const code = c.codePointAt(0);
      at[k + 1] = at[k] + (code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
    });
    return { chars, at, bytes: utf8.encode(text) };
  };

  /** Where characters as a reader counts them begin, in code points; and the end. */
  BOT.clusters = (text) => {
    const starts = [0];
    const parts = Intl.Segmenter
      ? Array.from(new Intl.Segmenter("und", { granularity: "grapheme" }).segment(text), (s) => s.segment)
      : [...text];
    for (const part of parts) starts.push(starts[starts.length - 1] + [...part].length);
    return starts;
  };

  /** The first place from c on, not past `end`, where `raw` stands; -1 where it does not. */
  function find(bytes, raw, c, end) {
    for (; c + raw.length <= end; c++) {
      let k = 0;
      while (k < raw.length && bytes[c + k] === raw[k]) k++;
      if (k === raw.length) return c;
    }
    return -1;
  }

  /** piecesOver(columns, spans, hexes) -> {from, to, loose}: the columns of each piece. spans: its
   *  code points; pieces of one character share them. Columns that no piece covers are bytes that
   *  the vocabulary lacks. loose: the piece's bytes are not those of the text (it was rewritten
   *  before it was cut); then the pieces of that stretch share its columns evenly. */
  BOT.piecesOver = ({ at, bytes }, spans, hexes) => {
    const n = spans.length;
    const from = new Float64Array(n);
    const to = new Float64Array(n);
    const loose = new Uint8Array(n);

    function place(first, last, x, y) {
      let c = x;
      for (let p = first; p < last; p++) {
        const raw = BOT.unhex(hexes[p]);
        from[p] = raw.length ? find(bytes, raw, c, y) : -1;
        if (from[p] < 0) return false;
        c = to[p] = from[p] + raw.length;
      }
      return true;
    }

    for (let p = 0; p < n; ) {
      let [start, end] = spans[p];
      let q = p + 1;
      while (q < n && spans[q][0] < end) end = Math.max(end, spans[q++][1]);
      const [x, y] = [at[start], at[end]];
      if (!place(p, q, x, y)) {
        for (let k = p; k < q; k++) {
          from[k] = x + ((y - x) * (k - p)) / (q - p);
          to[k] = x + ((y - x) * (k + 1 - p)) / (q - p);
          loose[k] = 1;
        }
      }
      p = q;
    }
    return { from, to, loose };
  };

  /** The first of n cells that reaches past column c; to(k) does not fall. */
  BOT.firstPast = (n, c, to) => {
    let [low, high] = [0, n];
    while (low < high) {
      const k = (low + high) >> 1;
      if (to(k) <= c) low = k + 1;
      else high = k;
    }
    return low;
  };

  /** Lines of at most `most` columns: where each begins, and the end. good: how well a line may end
   *  before each column, 0 (not at all) to 3; a worse place is taken where the line gets too short. */
  BOT.wrapColumns = (n, most, good) => {
    const starts = [0];
    while (starts[starts.length - 1] < n) {
      const from = starts[starts.length - 1];
      let to = Math.min(n, from + most);
      if (to < n) {
        const last = (least, share) => {
          for (let c = to; c > from + most * share; c--) if (good[c] >= least) return c;
          return 0;
        };
        to = last(3, 0.4) || last(2, 0.5) || last(1, 0.3) || to;
      }
      starts.push(to);
    }
    return starts;
  };
})();

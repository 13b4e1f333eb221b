/* What a run of the model takes, counted: positions, query–key pairs, multiply-adds, weight bytes. */
"use strict";
(() => {
  const BOT = window.BOT;
  const ITEM = { float64: 8, float32: 4, bfloat16: 2, float16: 2 };

  /** Pairs of the first n queries with the positions each may see: itself, and at most w in all. */
  const pairsTo = (n, w) => (w === null || n <= w ? (n * (n + 1)) / 2 : (w * (w + 1)) / 2 + (n - w) * w);

  /** counting(trace, data) -> the counts of its runs. data: the inside, or null before it is there;
   *  what needs it is null then. Bytes are of numbers as the model holds them. */
  BOT.counting = (trace, data) => {
    const T = trace.prompt.length;
    const { model, steps } = trace;
    const weights = (data && data.weights) || null;
    const windows = (data && data.heads && data.heads.windows) || null;
    const L = model.n_layers;

    /** Pairs of queries from … to − 1, all layers together, for one head each. */
    const pairs = (from, to) => windows && windows.reduce((sum, w) => sum + pairsTo(to, w) - pairsTo(from, w), 0);

    /** Multiply-adds of a run over the positions from … to − 1, of which the last gets scores. */
    const macs = (from, to) => (weights && windows
      ? (to - from) * (weights.attention_macs + weights.ffn_macs)
        + (pairs(from, to) * weights.pair_macs) / L + weights.head_macs
      : null);

    /** Numbers that a run over n positions reads: every matrix once, of tables only the rows picked. */
    const read = (n) => {
      if (!weights) return null;
      const { embedding, position, attention, ffn, head, other } = weights;
      return attention + ffn + other + (head || embedding) + n * (embedding / model.vocab_rows + (position ? model.d_model : 0));
    };

    /** Run i. A run that has not been made yet has no cache bytes and no time. */
    const run = (i) => {
      const to = T + i;
      const from = i > 0 ? to - 1 : 0;
      const step = steps[i] || null;
      const fresh = to - from;
      const numbers = read(fresh);
      const bytes = numbers === null ? null : numbers * weights.itemsize;
      const work = macs(from, to);
      return {
        i, from, to, fresh, step, bytes, numbers, macs: work,
        held: step ? step.cache[0] : from,
        pairs: pairs(from, to),
        before: i > 0 && steps[i - 1] ? steps[i - 1].cache[2] : 0,
        after: step ? step.cache[2] : null,
        ms: step ? step.ms[0] : null,
        perByte: bytes && work !== null ? work / bytes : null,
      };
    };

    return {
      T, windows, weights, pairs, run,
      itemsize: weights ? weights.itemsize : ITEM[model.dtype] || null,
      known: weights !== null && windows !== null,
      /** Multiply-adds of run i where nothing is kept: all positions again. */
      whole: (i) => macs(0, T + i),
      /** Pairs in one layer with window w (null: none). */
      layerPairs: (from, to, w) => pairsTo(to, w) - pairsTo(from, w),
      /** Sums over the first n runs: {with, without} of {positions, macs}. */
      totals(n) {
        const sum = (of) => (n > 0 ? Array.from({ length: n }, (_, i) => of(i)).reduce((a, b) => (a === null || b === null ? null : a + b), 0) : 0);
        return {
          with: { positions: n > 0 ? T + n - 1 : 0, macs: sum((i) => run(i).macs) },
          without: { positions: n * T + (n * (n - 1)) / 2, macs: sum((i) => macs(0, T + i)) },
        };
      },
    };
  };

  /** Sentences one after another, as the page's language sets them; null ones are left out. */
  BOT.joined = (sentences) => sentences.filter(Boolean).join(BOT.state.lang === "zh" ? "" : " ");

  const UNITS = { en: [[1e12, "a"], [1e9, "b"], [1e6, "c"]], zh: [[1e12, "a"], [1e8, "b"], [1e4, "c"]] };
  const NAMES = { a: "panel.runs.big.a", b: "panel.runs.big.b", c: "panel.runs.big.c" };

  /** A large count in words of the page's language: "3.77 billion". */
  BOT.count = (n) => {
    if (n === null || n === undefined) return "–";
    const unit = (UNITS[BOT.state.lang] || UNITS.en).find(([size]) => n >= size);
    return unit ? BOT.t(NAMES[unit[1]], { n: BOT.sig(n / unit[0]) }) : BOT.num(n);
  };
})();

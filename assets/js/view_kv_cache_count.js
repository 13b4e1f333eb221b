/* What the cache holds after a run, by the model's sizes: positions in every layer, and bytes. */
"use strict";
(() => {
  const BOT = window.BOT;
  const ITEM = { float64: 8, float32: 4, bfloat16: 2, float16: 2 };

  const median = (values) => {
    const sorted = Float64Array.from(values).sort();
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  };

  /** holding(trace, data) -> what the cache holds. A layer that looks back over w positions, itself
   *  included, keeps the last w − 1: what the next position may still see beside itself. */
  BOT.holding = (trace, data) => {
    const { model, steps } = trace;
    const known = data.heads ? data.heads.windows : null;
    const windows = known || Array(model.n_layers).fill(null);
    const itemsize = data.weights ? data.weights.itemsize : ITEM[model.dtype] || null;
    const perLayer = itemsize === null ? null : 2 * model.n_kv_heads * model.d_head * itemsize;

    /** [from, to): the positions that a layer holds once `after` have been read. */
    const range = (layer, after) => {
      const w = windows[layer];
      return [w === null ? 0 : Math.max(0, after - (w - 1)), after];
    };
    /** Layers that hold equally many: [{layers, positions}, …]. */
    const groups = (after) => {
      const found = new Map();
      for (let layer = 0; layer < model.n_layers; layer++) {
        const [from, to] = range(layer, after);
        found.set(to - from, (found.get(to - from) || 0) + 1);
      }
      return [...found].map(([positions, layers]) => ({ layers, positions }));
    };
    const bytes = (after) => (perLayer === null ? null
      : perLayer * groups(after).reduce((sum, { layers, positions }) => sum + layers * positions, 0));

    return {
      windows, known: known !== null, itemsize, perLayer, range, groups, bytes,
      sliding: windows.some((w) => w !== null),
      mixed: new Set(windows).size > 1,
      /** After step i: {after: positions read, bytes: what the tensors take}. */
      at: (i) => (i < 0 ? { after: 0, bytes: 0 } : { after: steps[i].cache[1], bytes: steps[i].cache[2] }),
    };
  };

  /** How long position 0 is beside the others: the median over all kv heads of its norm by the median
   *  of theirs, {key, value}; null where there is too little to compare. */
  BOT.firstBeside = ({ heads, model }) => {
    const [L, G, n] = heads.key_norms.shape;
    if (n < 4) return null;
    const ratio = (norms) => {
      const found = [];
      for (let l = 0; l < L; l++) {
        for (let g = 0; g < G; g++) {
          const row = norms.row(l, g);
          found.push(row[0] / median(row.subarray(1)));
        }
      }
      return median(found);
    };
    return { key: ratio(heads.key_norms), value: ratio(heads.value_norms), n: L * model.n_kv_heads };
  };
})();

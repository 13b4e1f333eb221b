/* Rotary positions, computed: the speeds of the pairs out of a model's own cosines and sines, and
 * vectors turned by them.
 */
"use strict";
(() => {
  const BOT = window.BOT;

  /** rotary(cos, sin) of arrays [T, Z] -> {z, theta f64[Z/2] rad per position, gain f64[Z/2],
   *  gap, turn(x, p)}.
   *
   *  gain: what the model multiplies cosine and sine with (1 but for stretched contexts). gap: the
   *  largest difference of gain × cos(p θ), gain × sin(p θ) to what the model has. turn: a copy of x
   *  at position p (float64), its first z numbers turned in pairs i and i + z/2. */
  BOT.rotary = (cos, sin) => {
    const [n, z] = cos.shape;
    const half = z / 2;
    const last = n - 1;
    const theta = new Float64Array(half);
    const gain = new Float64Array(half);
    for (let i = 0; i < half; i++) {
      gain[i] = Math.hypot(cos.at(0, i), sin.at(0, i));
      if (last < 1) continue;
      // Position 1 tells the speed roughly, the last one sharpens it: its angle is known but for
      // full turns, and those the rough speed gives.
      const rough = Math.atan2(sin.at(1, i), cos.at(1, i));
      const end = Math.atan2(sin.at(last, i), cos.at(last, i));
      theta[i] = (end + 2 * Math.PI * Math.round((rough * last - end) / (2 * Math.PI))) / last;
    }
    let gap = 0;
    for (let p = 0; p < n; p++) {
      for (let i = 0; i < half; i++) {
        const angle = p * theta[i];
        gap = Math.max(gap, Math.abs(gain[i] * Math.cos(angle) - cos.at(p, i)), Math.abs(gain[i] * Math.sin(angle) - sin.at(p, i)));
      }
    }
    return {
      z, theta, gain, gap,
      turn(x, p) {
        const y = Float64Array.from(x);
        for (let i = 0; i < half; i++) {
          const c = gain[i] * Math.cos(p * theta[i]);
          const s = gain[i] * Math.sin(p * theta[i]);
          y[i] = x[i] * c - x[i + half] * s;
          y[i + half] = x[i + half] * c + x[i] * s;
        }
        return y;
      },
    };
  };

  BOT.dot = (a, b) => {
    let sum = 0;
    for (let k = 0; k < a.length; k++) sum += a[k] * b[k];
    return sum;
  };

  /** q · k for q at m + s and k at n + s (both), and for q at m + s and k at n (one), s = 0 … most. */
  BOT.shifted = (rotary, q, m, k, n, most) => {
    const both = new Float64Array(most + 1);
    const one = new Float64Array(most + 1);
    const still = rotary.turn(k, n);
    for (let s = 0; s <= most; s++) {
      const moved = rotary.turn(q, m + s);
      both[s] = BOT.dot(moved, rotary.turn(k, n + s));
      one[s] = BOT.dot(moved, still);
    }
    return { both, one };
  };
})();

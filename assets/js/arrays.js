/* Arrays from the server: exact numbers with a shape, decoded once. */
"use strict";
(() => {
  const BOT = window.BOT;
  const KINDS = { f4: Float32Array, f8: Float64Array, i4: Int32Array, i8: Int32Array, u1: Uint8Array };

  function bytes(base64) {
    const text = atob(base64);
    const buffer = new Uint8Array(text.length);
    for (let k = 0; k < text.length; k++) buffer[k] = text.charCodeAt(k);
    return buffer.buffer;
  }

  /** nd({t, s, b}) -> {shape, data, at(i, j, …), row(i, j, …)}: `row` is the last axis under these
   *  places, a view and no copy. Integers have 32 bits here. */
  BOT.nd = ({ t, s, b }) => {
    const data = new KINDS[t](bytes(b));
    const strides = s.map((_, k) => s.slice(k + 1).reduce((a, n) => a * n, 1));
    const place = (where) => where.reduce((sum, k, axis) => sum + k * strides[axis], 0);
    return {
      shape: s, data,
      at: (...where) => data[place(where)],
      row(...where) {
        const from = place(where);
        return data.subarray(from, from + (strides[where.length - 1] || 1));
      },
    };
  };

  const packed = (value) => typeof value.t === "string" && Array.isArray(value.s) && typeof value.b === "string";

  /** A payload with every packed array in it decoded. */
  BOT.unpack = (value) => {
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map(BOT.unpack);
    if (packed(value)) return BOT.nd(value);
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, BOT.unpack(part)]));
  };

  /** The place of the largest value, the first of equals. */
  BOT.argmax = (values) => {
    let best = 0;
    for (let k = 1; k < values.length; k++) if (values[k] > values[best]) best = k;
    return best;
  };
})();

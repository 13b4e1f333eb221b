/* Sums of money without rounding: whole numbers and decimals as they are typed, exact to the last digit. */
"use strict";
(() => {
  const BOT = window.BOT;
  const MILLION = 6; // prices are per 10⁶ tokens

  /** What was typed, without the marks between thousands; null where these stand wrong. */
  function plain(text) {
    const typed = text.normalize("NFKC").trim();
    const [whole, ...rest] = typed.split(".");
    if (/[ ,_\u2009]/.test(whole) && !/^\d{1,3}([ ,_\u2009])\d{3}(\1\d{3})*$/.test(whole)) return null;
    return [whole.replace(/[ ,_\u2009]/g, ""), ...rest].join(".");
  }

  /** A whole number of up to 15 digits as a BigInt; null for anything else. */
  function whole(text) {
    const typed = plain(text);
    return typed !== null && /^\d{1,15}$/.test(typed) ? BigInt(typed) : null;
  }

  /** A decimal from 0 on as {units, scale}: units ÷ 10^scale; null for anything else. */
  function decimal(text) {
    const typed = plain(text);
    const found = typed === null ? null : /^(\d{0,12})(?:\.(\d{1,12}))?$/.exec(typed);
    if (!found || typed === "") return null;
    const [, before, after = ""] = found;
    return { units: BigInt(before + after), scale: after.length };
  }

  const grouped = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ",");

  /** {units, scale} in full, without zeros at the end. */
  function show({ units, scale }) {
    const digits = units.toString().padStart(scale + 1, "0");
    const cut = digits.length - scale;
    const after = digits.slice(cut).replace(/0+$/, "");
    return grouped(digits.slice(0, cut)) + (after ? `.${after}` : "");
  }

  /** What n tokens cost at a price per million. */
  const cost = (n, price) => ({ units: n * price.units, scale: price.scale + MILLION });

  function add(a, b) {
    const scale = Math.max(a.scale, b.scale);
    const at = (x) => x.units * 10n ** BigInt(scale - x.scale);
    return { units: at(a) + at(b), scale };
  }

  BOT.exactly = { whole, decimal, show, cost, add, count: (n) => grouped(n.toString()) };
})();

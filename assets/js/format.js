/* Numbers and text made readable without making them untrue.
 *
 * A rounded probability never reads as 0 or 100 % unless it is that; `exact` gives the full value for
 * a title. Text is shown with its spaces, line breaks and invisible characters marked, isolated
 * from the direction of what stands around it.
 */
"use strict";
(() => {
  const BOT = window.BOT;

  /* ---- numbers ---- */

  const SUPER = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
  const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

  /** An integer with thousands separators (the same in English and Chinese). */
  BOT.num = (n) => (n === null || n === undefined ? "–" : whole.format(n));

  function scientific(x, digits) {
    const [mantissa, exponent] = x.toExponential(digits - 1).split("e");
    return `${mantissa}×10${[...String(Number(exponent))].map((c) => SUPER[c]).join("")}`.replace("-", "−");
  }

  /** A real number with `digits` significant digits; scientific when tiny or huge. */
  BOT.sig = (x, digits = 3) => {
    if (x === null || x === undefined) return "–";
    if (!Number.isFinite(x)) return Number.isNaN(x) ? "NaN" : x > 0 ? "∞" : "−∞";
    if (x === 0) return "0";
    const size = Math.abs(x);
    if (size < 1e-3 || size >= 1e6) return scientific(x, digits);
    const places = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
    return x.toFixed(places).replace("-", "−");
  };

  /** A probability: percent with three digits, more where it would round to 100 %. */
  BOT.prob = (p) => {
    if (p === null || p === undefined) return "–";
    if (p === 0) return "0%";
    if (p === 1) return "100%";
    if (p < 1e-5) return `${scientific(100 * p, 2)}%`;
    const percent = 100 * p;
    // Far above 1 is what only a changed file says; it is shown as it is.
    if (percent > 99.94 && percent < 150) {
      const gap = Math.abs(1 - p) * 100;
      return `${percent.toFixed(Math.min(14, 1 + Math.ceil(-Math.log10(gap))))}%`;
    }
    return `${BOT.sig(percent, 3)}%`;
  };

  /** The whole value: `single` for a float32, whose shortest decimal is looked for. */
  BOT.exact = (x, single = false) => {
    if (single && Number.isFinite(x)) {
      for (let digits = 6; digits < 10; digits++) {
        const short = Number(x.toPrecision(digits));
        if (Math.fround(short) === x) return String(short);
      }
    }
    return String(x);
  };

  BOT.ms = (x) => {
    if (x === null || x === undefined) return "–";
    return x >= 1000 ? `${BOT.sig(x / 1000, 3)} s` : `${x < 0.1 ? BOT.sig(x, 2) : BOT.sig(x, 3)} ms`;
  };

  BOT.bytes = (n) => {
    if (n === null || n === undefined) return "–";
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let k = 0;
    for (; n >= 1024 && k < units.length - 1; k++) n /= 1024;
    return `${k ? BOT.sig(n, 3) : BOT.num(n)} ${units[k]}`;
  };

  /** "e18f" as "e1 8f". */
  BOT.hex = (hex) => (hex.match(/../g) || []).join(" ");

  /* ---- bytes as text ---- */

  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const LEAD = [[0x00, 0x7f, 1], [0xc2, 0xdf, 2], [0xe0, 0xef, 3], [0xf0, 0xf4, 4]];
  // The second byte's range is narrower after these (Unicode 16, table 3-7): no overlong forms,
  // no surrogates, nothing past U+10FFFF.
  const SECOND = { 0xe0: [0xa0, 0xbf], 0xed: [0x80, 0x9f], 0xf0: [0x90, 0xbf], 0xf4: [0x80, 0x8f] };

  /** Bytes still needed by a character begun at the end of `bytes`; null if they can not be UTF-8. */
  function needed(bytes) {
    for (let k = 0; k < bytes.length; ) {
      const size = (LEAD.find(([low, high]) => bytes[k] >= low && bytes[k] <= high) || [])[2];
      if (!size) return null;
      for (let j = 1; j < size; j++) {
        if (k + j === bytes.length) return { missing: size - j, from: k };
        const [low, high] = (j === 1 && SECOND[bytes[k]]) || [0x80, 0xbf];
        if (bytes[k + j] < low || bytes[k + j] > high) return null;
      }
      k += size;
    }
    return { missing: 0, from: bytes.length };
  }

  BOT.unhex = (hex) => Uint8Array.from(hex.match(/../g) || [], (pair) => parseInt(pair, 16));

  /** What bytes `hex` are after the held bytes `pendingHex`:
   *  {text: the whole text or null, missing: bytes still needed, head: text before the unfinished
   *  character, stray: true where the bytes can never be UTF-8, hex}. */
  BOT.piece = (hex, pendingHex = "") => {
    const bytes = BOT.unhex(pendingHex + hex);
    const found = needed(bytes);
    if (!found) return { text: null, missing: 0, head: "", stray: true, hex };
    const head = strict.decode(bytes.subarray(0, found.from));
    return { text: found.missing ? null : head, missing: found.missing, head, stray: false, hex };
  };

  /* ---- text with its invisible characters marked ---- */

  const SIGNS = new Map([[" ", "·"], ["\n", "↵"], ["\t", "→"], ["\r", "␍"]]);
  // Controls, format and bidi characters, odd blanks, separators, lone surrogates, private and
  // unassigned code points, fillers, variation selectors, and the replacement character itself.
  const ODD = /[\p{C}\p{Z}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufe00-\ufe0f\ufffd\u{e0100}-\u{e01ef}]/u;
  const EMOJI = /\p{Extended_Pictographic}/u;
  const TONE = /[\u{1f3fb}-\u{1f3ff}\ufe0f]/u;
  const MARK = /\p{M}/u;
  const BUSY = new RegExp(`${ODD.source}|${MARK.source}`, "u");

  /** A joiner or selector that only makes one picture of its neighbours stays as it is. */
  function joins(characters, k) {
    let before = k - 1;
    while (before >= 0 && TONE.test(characters[before])) before--;
    if (before < 0 || !EMOJI.test(characters[before])) return false;
    if (characters[k] === "\ufe0f") return true;
    return characters[k] === "\u200d" && k + 1 < characters.length && EMOJI.test(characters[k + 1]);
  }

  /** [[kind, string], …]: kind is "text", "sign" (blank or break) or "escape". */
  BOT.marks = (text, plain = false) => {
    if (!BUSY.test(plain ? text.replace(/[ \n\t]+/g, "") : text)) return text ? [["text", text]] : [];
    const runs = [];
    const add = (kind, string) => {
      const last = runs[runs.length - 1];
      if (last && last[0] === kind) last[1] += string;
      else runs.push([kind, string]);
    };
    const characters = [...text];
    characters.forEach((c, k) => {
      if (SIGNS.has(c) && c !== "\r") add(plain ? "text" : "sign", plain ? c : SIGNS.get(c));
      else if (SIGNS.has(c)) add("sign", SIGNS.get(c));
      else if (ODD.test(c) && !joins(characters, k)) {
        const code = c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
        add("escape", `‹U+${code}›`);
      } else if (MARK.test(c) && (runs.length === 0 || runs[runs.length - 1][0] !== "text")) {
        add("text", `◌${c}`);
      } else add("text", c);
    });
    return runs;
  };

  /** The same as one string, for labels and titles. */
  BOT.visibleText = (text) => BOT.marks(text).map((run) => run[1]).join("");

  /** The same as a fragment: one <bdi>, signs and escapes in spans. `plain` leaves blanks alone. */
  BOT.visible = (text, plain = false) => {
    const bdi = BOT.el("bdi", { class: "bot-vis" });
    for (const [kind, string] of BOT.marks(text, plain)) {
      bdi.append(kind === "text" ? string : BOT.el("span", { class: `bot-${kind}` }, string));
    }
    const fragment = document.createDocumentFragment();
    fragment.append(bdi);
    return fragment;
  };

  const shown = new WeakMap();
  /** Put `visible(text)` into a node unless it is there already. */
  BOT.show = (node, text, plain = false) => {
    if (shown.get(node) === text) return;
    shown.set(node, text);
    node.replaceChildren(BOT.visible(text, plain));
  };

  /** A token's bytes as a string to read: its text, or "⟨e8 8b⟩" where they are not text alone. */
  BOT.tokenText = (hex) => {
    const { text } = BOT.piece(hex);
    return text === null ? `⟨${BOT.hex(hex)}⟩` : BOT.visibleText(text);
  };

  /** About n round numbers from low to high. */
  BOT.ticks = (low, high, n) => {
    const rough = (high - low) / n || 1;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = ([1, 2, 5].find((k) => k * power >= rough) || 10) * power;
    const first = Math.ceil(low / step - 1e-9);
    return Array.from({ length: Math.max(0, Math.floor(high / step + 1e-9) - first + 1) }, (_, k) => (first + k) * step);
  };
})();

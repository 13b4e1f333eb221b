/* One line of the byte ledger's picture: its lanes, and a cell for each thing in them. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, spelling } = BOT;
  const words = BOT.ledgerWords;

  /* em: a column, the names of the lanes, and the lanes' heights: of a line, and of one where something
   * is rewritten. */
  const COLUMN = 2.6;
  const GUTTER = 7.6;
  const PLAIN = { character: 2.2, point: 1.35, byte: 1.75, sign: 1.6, piece: 2.5, id: 1.35 };
  const CHANGED = { character: 2.2, point: 2.1, now: 2.6, byte: 1.75, sign: 1.6, piece: 2.5, id: 1.35 };
  const TINTS = 6;

  /** How good a line's end is before each column: 2 between pieces and characters, 1 in a piece but
   *  between characters. */
  function breaks(model) {
    const good = new Uint8Array(model.byte.length + 1);
    const inPiece = new Uint8Array(good.length);
    for (const [from, to] of model.cols) inPiece.fill(1, from + 1, to);
    for (const { cols: [from] } of model.seen) good[from] = 1;
    for (const [from] of model.cols) if (model.unit[from] < 0) good[from] = 1;
    for (let c = 0; c < good.length; c++) if (good[c] && !inPiece[c]) good[c] = 2;
    return good;
  }

  /** [[from, to, whether something is rewritten there], …] for lines of at most `most` columns. */
  function wrap(model, most) {
    const good = breaks(model);
    const changed = (from, to) => {
      for (let c = from; c < to; c++) if (model.unit[c] >= 0 && model.units[model.unit[c]].into !== null) return true;
      return false;
    };
    const lines = [];
    const n = model.byte.length;
    for (let from = 0; from < n;) {
      let to = Math.min(n, from + most);
      if (to < n) {
        const last = (least, share) => {
          for (let c = to; c > from + most * share; c--) if (good[c] >= least) return c;
          return 0;
        };
        to = last(2, 0.4) || last(1, 0.6) || to;
      }
      lines.push([from, to, changed(from, to)]);
      from = to;
    }
    return lines;
  }

  /** The first k < n that reaches past column c; cols(k) in order. */
  function firstIn(n, c, cols) {
    let [low, high] = [0, n];
    while (low < high) {
      const k = (low + high) >> 1;
      if (cols(k)[1] <= c) low = k + 1;
      else high = k;
    }
    return low;
  }

  /** Whether a piece is written with a sign for each of its bytes. */
  const bySigns = (model, p) => model.how !== "text" && model.kinds[p] !== "added" && model.kinds[p] !== "unknown"
    && spelling.spelled(model.written[p]) !== null;

  /** A piece's cell: text, or bytes and how many are missing. wide: columns that it has here. */
  function inside(model, p, wide) {
    const { ends, text, begins, missing, stray } = words.parts(model, p);
    const hex = (bytes) => el("span", { class: "bot-ledger-hex" }, BOT.hex(bytes));
    if (stray) return hex(model.hexes[p]);
    if (!ends && !text && !begins) return "∅";
    return [el("span", { class: "bot-ledger-text" }, ends && hex(ends), text && BOT.visible(text), begins && hex(begins)),
      missing ? el("small", null, wide > 1 ? BOT.t("panel.ledger.missing", { n: missing }) : `+${missing}`) : null];
  }

  /** The columns from … to: {node, cells: [{node, from, to, and what it is of: character, unit, column or
   *  piece}]}. top: px. gutter: with the lanes' names beside. name: of options' DOM ids. */
  function build(model, [from, to, changed], { top, gutter, name }) {
    const cells = [];
    const lanes = changed ? CHANGED : PLAIN;
    const rows = Object.keys(lanes);
    const row = Object.fromEntries(rows.map((lane, k) => [lane, k + 1]));
    const node = el("div", { class: "bot-ledger-line", role: "presentation", style: {
      top: `${top}px`, "grid-template-columns": `${gutter ? `${GUTTER}em ` : "0 "}repeat(${to - from}, ${COLUMN}em)`,
      "grid-template-rows": rows.map((lane) => `${lanes[lane]}em`).join(" ") } });
    if (gutter) {
      node.append(...rows.map((lane) => el("span", { class: "bot-ledger-lane", "aria-hidden": "true", style: { "grid-area": `${row[lane]} / 1` } },
        BOT.t(`panel.ledger.lane.${lane === "sign" && model.how !== "bytes" ? "written" : lane}`))));
    }

    function cell(lane, [c0, c1], what, ...children) {
      const [a, b] = [Math.max(from, c0), Math.min(to, c1)];
      const made = el("span", { class: `bot-ledger-${lane}`, "data-k": cells.length, style: { "grid-area": `${row[lane]} / ${a - from + 2} / auto / ${b - from + 2}` } }, children);
      made.classList.toggle("goes-on", c0 < from);
      made.classList.toggle("is-cut", c1 > to);
      if (lane !== "piece") made.setAttribute("aria-hidden", "true");
      cells.push({ node: made, from: c0, to: c1, ...what });
      node.append(made);
      return made;
    }

    const each = (n, cols, fn) => {
      for (let k = firstIn(n, from, cols); k < n && cols(k)[0] < to; k++) fn(k, cols(k));
    };

    each(model.seen.length, (k) => model.seen[k].cols, (k, cols) => {
      const { a, b } = model.seen[k];
      const text = model.chars.slice(a, b).join("");
      const marks = BOT.marks(text);
      // What can not be seen has its number in the next lane.
      const odd = marks.length === 1 && marks[0][0] === "escape" && b - a === 1;
      cell("character", cols, { character: k }, odd ? el("span", { class: "bot-sign" }, "‹›") : BOT.visible(text));
    });
    each(model.units.length, (u) => model.units[u].cols, (u, cols) => {
      const { into } = model.units[u];
      const points = spelling.codePoints(words.unitText(model, u)).split(" ");
      const made = cell("point", cols, { unit: u }, points.map((point) => el("i", null, point)));
      if (into === null) return;
      made.classList.add("is-old");
      cell("now", cols, { unit: u }, el("b", null, "→ ", into === "" ? BOT.t("panel.ledger.nothing") : BOT.visible(into)), el("i", null, spelling.codePoints(into)));
    });
    for (let c = from; c < to; c++) {
      const [b, u, p] = [model.byte[c], model.unit[c], model.piece[c]];
      const made = cell("byte", [c, c + 1], { column: c }, b < 0 ? "–" : b.toString(16).padStart(2, "0"));
      made.classList.add(p < 0 ? "is-lost" : `bot-tint-${p % TINTS}`);
      made.classList.toggle("is-put-in", u < 0 && b >= 0);
      if (p >= 0 && b >= 0 && bySigns(model, p)) cell("sign", [c, c + 1], { column: c }, spelling.signs.get(b));
    }
    each(model.ids.length, (p) => model.cols[p], (p, cols) => {
      const what = { piece: p };
      const wide = Math.min(to, cols[1]) - Math.max(from, cols[0]);
      if (!bySigns(model, p)) {
        const made = cell("sign", cols, what, el("bdi", null, BOT.visibleText(model.written[p])));
        made.classList.add("is-whole");
        made.classList.toggle("is-narrow", wide === 1 && model.written[p].length > 4);
      }
      const made = cell("piece", cols, what, inside(model, p, wide));
      made.classList.add(`bot-tint-${p % TINTS}`, `is-${model.kinds[p]}`);
      made.classList.toggle("is-open", model.missing[p] > 0 || model.before[p] > 0 || model.stray[p]);
      made.setAttribute("role", "option");
      made.id = `${name}-${p}-${from}`;
      cell("id", cols, what, String(model.ids[p])).classList.toggle("is-narrow", wide === 1);
    });
    return { node, cells };
  }

  const height = (changed) => Object.values(changed ? CHANGED : PLAIN).reduce((a, b) => a + b);

  /** Sizes are in em. height(changed): of a line. */
  BOT.ledgerLine = { COLUMN, GUTTER, height, wrap, build };
})();

/* The byte ledger in words: what a piece, a character or a byte is, and the signs that occur. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { spelling } = BOT;
  const SAMPLES = 5; // signs of bytes that the legend gives

  const isolated = (text) => `\u2068${text}\u2069`; // other scripts keep their direction to themselves
  const t = (key, values) => BOT.t(`panel.ledger.${key}`, values);
  const chunk = (model, [from, to]) => model.byte.slice(from, to).filter((b) => b >= 0).map((b) => b.toString(16).padStart(2, "0")).join("");

  /** A space or a sign that can be seen; the text of a character as displayed. */
  const visible = (text) => isolated(BOT.visibleText(text));

  /** A character and its number; the number alone where the character can not be seen. */
  function named(char) {
    const point = spelling.codePoints(char);
    return BOT.marks(char).some(([kind]) => kind === "escape") ? point : t("says.named", { text: visible(char), point });
  }

  const unitText = (model, u) => model.chars.slice(model.units[u].a, model.units[u].b).join("");

  /** The units that a piece's first and last column with one belong to, NONE: -1. */
  function edges(model, p) {
    const [from, to] = model.cols[p];
    const units = model.unit.slice(from, to).filter((u) => u >= 0);
    return [units.length ? units[0] : -1, units.length ? units[units.length - 1] : -1];
  }

  /** A piece's bytes in parts; see BOT.spelling.parts. The unknown token stands for what it covers. */
  const parts = (model, p) => spelling.parts(model.hexes[p], model.held[p]);

  /** A piece to read: its text, and its bytes in hex where they are not whole characters. */
  function pieceText(model, p) {
    const found = parts(model, p);
    if (found.stray) return `⟨${BOT.hex(model.hexes[p])}⟩`;
    const text = [found.ends && `⟨${BOT.hex(found.ends)}⟩`, BOT.visibleText(found.text), found.begins && `⟨${BOT.hex(found.begins)}⟩`].filter(Boolean).join("");
    return found.missing ? t("more", { bytes: text, n: found.missing }) : text || "∅";
  }

  /** The tokenizer put a space before the text, which its decoder takes off again. */
  const opens = (model, p) => p === 0 && model.kinds[p] !== "added" && model.written[p].startsWith("▁") && !model.hexes[p].startsWith("20");

  /** Whether a piece has a byte that is not of the text. */
  function putIn(model, p) {
    for (let c = model.cols[p][0]; c < model.cols[p][1]; c++) if (model.piece[c] === p && model.unit[c] < 0 && model.byte[c] >= 0) return true;
    return false;
  }

  /** What a piece is, beside whole characters: sentences without an end. */
  function notes(model, p) {
    const { kinds, missing, before, stray } = model;
    const found = kinds[p] === "text" ? [] : [t(`kind.${kinds[p]}`)];
    if (opens(model, p)) found.push(t("part.opening"));
    else if (kinds[p] === "text" && putIn(model, p)) found.push(t("part.put_in"));
    if (stray[p]) return [...found, t("part.stray")];
    const [first, last] = edges(model, p);
    const { ends, begins } = parts(model, p);
    const named = (u) => (u < 0 ? "?" : visible(unitText(model, u)));
    if (before[p] && ends) found.push(missing[p] && !begins ? t("part.inside", { char: named(first), n: missing[p] }) : t("part.ends", { char: named(first) }));
    if (begins) found.push(t("part.begins", { char: named(last), n: missing[p] }));
    return found;
  }

  function pieceSays(model, p) {
    const says = [t("says.piece", { k: p, text: isolated(pieceText(model, p)), id: model.ids[p] }),
      t("says.bytes", { bytes: BOT.hex(model.hexes[p]) || "–" })];
    if (model.how) says.push(t("says.written", { written: isolated(BOT.visibleText(model.written[p])) }));
    return [...says, ...notes(model, p)].join(" · ");
  }

  /** Pieces that have a byte of these columns, in order. */
  const piecesOf = (model, [from, to]) => [...new Set(model.piece.slice(from, to))].filter((p) => p >= 0);

  function lostOf(model, [from, to]) {
    const bytes = [];
    for (let c = from; c < to; c++) if (model.piece[c] < 0 && model.byte[c] >= 0) bytes.push(model.byte[c].toString(16).padStart(2, "0"));
    return bytes.join(" ");
  }

  /** In which pieces the bytes of these columns are, and which of them are in none. */
  function where(model, cols) {
    const pieces = piecesOf(model, cols);
    const lost = lostOf(model, cols);
    return [pieces.length && t("says.in", { n: pieces.length, pieces: pieces.map((p) => `${p} (id ${model.ids[p]})`).join(", ") }),
      lost && t("says.lost", { bytes: lost })].filter(Boolean);
  }

  /** Characters a … b as they were written, and what normalisation made of them. */
  function rewrittenSays(model, u) {
    const { into } = model.units[u];
    const was = unitText(model, u);
    return t("says.rewritten", { was: visible(was), points: spelling.codePoints(was),
      into: into === "" ? t("nothing") : `${visible(into)} (${spelling.codePoints(into)})` });
  }

  function characterSays(model, k) {
    const { a, b, cols } = model.seen[k];
    const text = model.chars.slice(a, b).join("");
    const says = [t("says.character", { k: b - a === 1 ? a : `${a}–${b - 1}`, n: b - a, text: visible(text), points: spelling.codePoints(text) }),
      t("says.bytes", { bytes: BOT.hex(chunk(model, cols)) || "–" })];
    for (let u = model.unitAt[a]; u <= model.unitAt[b - 1]; u++) if (model.units[u].into !== null) says.push(rewrittenSays(model, u));
    return [...says, ...where(model, cols)].join(" · ");
  }

  /** One code point, or the group that is rewritten. */
  function unitSays(model, u) {
    const { a, cols, into } = model.units[u];
    if (into !== null) return rewrittenSays(model, u);
    const char = model.chars[a];
    return [t("says.point", { k: a, text: visible(char), point: spelling.codePoints(char) }), t("says.bytes", { bytes: BOT.hex(chunk(model, cols)) }), ...where(model, cols)].join(" · ");
  }

  function byteSays(model, c) {
    const [byte, u, p] = [model.byte[c], model.unit[c], model.piece[c]];
    if (byte < 0) return u >= 0 ? rewrittenSays(model, u) : pieceSays(model, p);
    const hex = byte.toString(16).padStart(2, "0");
    const says = [t("says.byte", { hex, decimal: byte, bits: byte.toString(2).padStart(8, "0") })];
    says.push(u < 0 ? t("part.put_in") : t("says.of", { k: c - model.units[u].cols[0] + 1, n: model.units[u].cols[1] - model.units[u].cols[0], char: visible(unitText(model, u)) }));
    if (model.how === "bytes") says.push(t("says.sign", { sign: spelling.signs.get(byte) }));
    says.push(p < 0 ? t("says.lost", { bytes: hex }) : t("says.in", { n: 1, pieces: `${p} (id ${model.ids[p]})` }));
    return says.join(" · ");
  }

  /** What the signs in this ledger mean: [[class of the sample, sample, sentence]], only of those
   *  that occur. */
  function legend(model) {
    const found = [];
    const { kinds, how } = model;
    if (how === "bytes") {
      const odd = [...new Set(model.byte)].filter((b) => b >= 0 && (b <= 32 || b > 126)).sort((a, b) => (b <= 32) - (a <= 32)).slice(0, SAMPLES);
      const rest = odd.map((b) => t("legend.sign", { sign: spelling.signs.get(b), byte: b.toString(16).padStart(2, "0") }));
      found.push(["sign", spelling.signs.get(odd[0]), `${t("legend.alphabet")} ${rest.join(t("legend.and"))}`]);
    }
    if (how === "text" && model.written.some((w) => w.includes("▁"))) found.push(["sign", "▁", t("legend.space")]);
    const named = kinds.indexOf("byte");
    if (named >= 0) found.push(["sign", model.written[named], t("legend.named", { written: model.written[named], byte: model.hexes[named] })]);
    const open = model.missing.findIndex((n) => n > 0);
    if (open >= 0) {
      const { begins, ends } = parts(model, open);
      found.push(["open", t("more", { bytes: BOT.hex(begins || ends), n: model.missing[open] }), t("legend.open", { bytes: BOT.hex(begins || ends), n: model.missing[open] })]);
    }
    if (model.rewrites.length) found.push(["new", "→", t("legend.rewritten")]);
    for (const kind of ["added", "unknown", "space"]) {
      const p = kinds.indexOf(kind);
      if (p >= 0) found.push([kind, kind === "space" ? "·" : BOT.visibleText(model.written[p]), t(kind === "space" ? "legend.inserted" : `legend.${kind}`)]);
    }
    if (model.ids.length && opens(model, 0)) found.push(["sign", "▁", t("legend.opening")]);
    const put = model.unit.findIndex((u, c) => u < 0 && model.byte[c] >= 0 && kinds[model.piece[c]] === "text");
    if (put >= 0) found.push(["put-in", model.byte[put].toString(16).padStart(2, "0"), t("legend.put_in")]);
    const lost = model.piece.findIndex((p, c) => p < 0 && model.byte[c] >= 0);
    if (lost >= 0) found.push(["lost", model.byte[lost].toString(16).padStart(2, "0"), t("legend.lost")]);
    const stray = model.stray.indexOf(true);
    if (stray >= 0) found.push(["open", BOT.hex(model.hexes[stray]), t("legend.stray")]);
    return found;
  }

  BOT.ledgerWords = { parts, pieceText, notes, pieceSays, characterSays, unitSays, byteSays, rewrittenSays, legend, chunk, opens, unitText, named };
})();

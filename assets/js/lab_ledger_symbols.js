/* How vocabularies write: GPT-2's alphabet with a sign for each byte, `▁` for a space, `<0xE7>` for a
 * byte by name. And what a piece's bytes are where they do not begin or end with a character.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const NAMED = /^<0x([0-9A-Fa-f]{2})>$/;
  const utf8 = new TextEncoder();

  const two = (byte) => byte.toString(16).padStart(2, "0");
  const hexOf = (text) => Array.from(utf8.encode(text), two).join("");

  /* Printable bytes stand for themselves, the others for characters from U+0100 on. */
  const signs = new Map(); // byte -> character
  const bytes = new Map(); // character -> byte
  for (let byte = 0, odd = 256; byte < 256; byte++) {
    const itself = (byte > 32 && byte < 127) || (byte > 160 && byte < 173) || byte > 173;
    const sign = String.fromCharCode(itself ? byte : odd++);
    signs.set(byte, sign);
    bytes.set(sign, byte);
  }

  /** The bytes that `written` spells in that alphabet as hex, null where it is not written in it. */
  function spelled(written) {
    let hex = "";
    for (const sign of written) {
      if (!bytes.has(sign)) return null;
      hex += two(bytes.get(sign));
    }
    return hex;
  }

  /** How pieces are written: "bytes" (a sign for each byte), "text", or null where both read the same.
   *  written, hexes: of the pieces; skip(i): pieces that tell nothing. */
  function manner(written, hexes, skip = () => false) {
    let bytewise = true;
    let same = true;
    written.forEach((text, i) => {
      if (skip(i)) return;
      if (spelled(text) !== hexes[i]) bytewise = false;
      if (hexOf(text) !== hexes[i]) same = false;
    });
    return same && bytewise ? null : bytewise ? "bytes" : "text";
  }

  /** A symbol's bytes as hex; how: of `manner`. */
  function symbolHex(symbol, how) {
    const hex = how === "text" ? null : spelled(symbol);
    if (hex !== null) return hex;
    const named = NAMED.exec(symbol);
    return named ? named[1].toLowerCase() : hexOf(symbol);
  }

  const size = (lead) => (lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4);

  /** What the bytes `hex` are after `held`, the bytes of a character begun before: {ends: bytes that go
   *  on with that character, text: whole characters after them, begins: bytes of a character that
   *  is not whole, missing: bytes that it needs still, stray: they belong to no character}. */
  function parts(hex, held = "") {
    const found = BOT.piece(hex, held);
    if (found.stray) return { ends: "", text: "", begins: "", missing: 0, stray: true };
    if (!held) {
      const begins = found.missing ? hex.slice(hexOf(found.head).length) : "";
      return { ends: "", text: found.head, begins, missing: found.missing, stray: false };
    }
    const wanted = 2 * size(parseInt(held.slice(0, 2), 16)) - held.length;
    const rest = parts(hex.slice(wanted));
    const open = hex.length < wanted;
    return { ...rest, ends: hex.slice(0, wanted), missing: open ? (wanted - hex.length) / 2 : rest.missing };
  }

  /** "U+0065 U+0301" */
  const codePoints = (text) => [...text].map((c) => `U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`).join(" ");

  BOT.spelling = { signs, spelled, manner, symbolHex, parts, hexOf, codePoints, named: NAMED };
})();

/* Bytes as characters: what they spell together, and what is left over where they are read alone. */
"use strict";
(() => {
  const BOT = window.BOT;
  const size = (lead) => (lead < 0x80 ? 1 : lead >= 0xc2 && lead <= 0xdf ? 2 : lead >= 0xe0 && lead <= 0xef ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0);
  const LOW = { 0xe0: 0xa0, 0xf0: 0x90 };
  const HIGH = { 0xed: 0x9f, 0xf4: 0x8f };
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

  /** [{from, to, known, text, missing}]: the characters of `bytes` in order. text is null for bytes that
   *  are none: as many as one U+FFFD stands for; known: the byte with which that is decided (the next
   *  one, where they could have begun a character); missing: bytes that the last one still waits for. */
  function characters(bytes) {
    const found = [];
    for (let from = 0; from < bytes.length; ) {
      const lead = bytes[from];
      const want = size(lead);
      let to = from + 1;
      const fits = (b, j) => b >= ((j === 1 && LOW[lead]) || 0x80) && b <= ((j === 1 && HIGH[lead]) || 0xbf);
      while (to < from + want && to < bytes.length && fits(bytes[to], to - from)) to++;
      const whole = want > 0 && to === from + want;
      const waits = want > 0 && !whole && to === bytes.length;
      found.push({ from, to, text: whole ? utf8.decode(bytes.subarray(from, to)) : null, missing: waits ? from + want - to : 0,
        known: whole || want === 0 || waits ? to - 1 : to });
      from = to;
    }
    return found;
  }

  const hexOf = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");

  /** What decoding these bytes by themselves would print: [{text} or {hex}, …]; each {hex} would be one
   *  U+FFFD. */
  function alone(hex) {
    const bytes = BOT.unhex(hex);
    const runs = [];
    for (const c of characters(bytes)) {
      const last = runs[runs.length - 1];
      if (c.text === null) runs.push({ hex: hexOf(bytes.subarray(c.from, c.to)) });
      else if (last && last.text !== undefined) last.text += c.text;
      else runs.push({ text: c.text });
    }
    return runs;
  }

  /** What one step brings: {hex, ends, dropped, alone, rubbish}. ends: it is the token that ends the
   *  answer and no text; dropped: bytes at the start that the decoder leaves out (a blank that
   *  stands for nothing); rubbish: how many marks of decoding it alone could not be read. */
  function piece(step, first, ends) {
    const hex = ends ? "" : step.tok.hex;
    const shown = step.pending + hexOf(new TextEncoder().encode(step.emitted));
    const dropped = first && hex.startsWith("20") && shown.length === hex.length - 2 ? 1 : 0;
    const runs = alone(hex);
    return { hex, ends, dropped, alone: runs, rubbish: runs.filter((r) => r.text === undefined).length };
  }

  BOT.detok = { characters, alone, piece, hexOf };
})();

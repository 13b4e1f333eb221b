/* What the cells of aligned cuts are filled with, and how pieces are named in a sentence. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  BOT.cells = {};

  const TINTS = 6;
  BOT.cells.tint = (node, k) => node.classList.add(`bot-tint-${k % TINTS}`);

  /** Text in a narrow cell: a control character by its byte alone. */
  BOT.cells.text = (text) => {
    const code = [...text].length === 1 ? text.codePointAt(0) : 32;
    const control = (code < 32 && !"\n\t\r".includes(text)) || code === 127;
    return control ? el("span", { class: "bot-escape" }, code.toString(16).padStart(2, "0")) : BOT.visible(text);
  };

  const utf8 = new TextEncoder();
  /** A piece: its text as far as its characters are whole, then bytes as hex. */
  BOT.cells.piece = (hex) => {
    const { text, head } = BOT.piece(hex);
    if (text) return BOT.cells.text(text);
    const rest = hex.slice(2 * utf8.encode(head).length);
    return [head ? BOT.visible(head) : null, el("span", { class: "bot-lanes-hex" }, rest ? BOT.hex(rest) : "∅")];
  };

  /** "“Left” 26839 · ⟨e5 ba⟩ 24024 …" of pieces from … to; at most `most` of them. */
  BOT.cells.list = (hexes, ids, from, to, most = 12) => {
    const shown = [];
    for (let p = from; p < to && shown.length < most; p++) {
      const { text } = BOT.piece(hexes[p]);
      const name = text ? `“\u2068${BOT.visibleText(text)}\u2069”` : hexes[p] ? `⟨${BOT.hex(hexes[p])}⟩` : "∅";
      shown.push(`${name}\u00a0${ids[p]}`);
    }
    return shown.join(" · ") + (to - from > most ? ` · +${BOT.num(to - from - most)}` : "") || "–";
  };
})();

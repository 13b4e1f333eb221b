/* The beginning of the corpus, cut by the merges so far. Words keep their nodes; one is filled again
 * only when its pieces are others.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const { words, stateAt } = BOT.training;
  const { spelled } = BOT.spelling;

  /** A piece keeps its tint wherever it stands; single bytes have none. */
  const tint = (symbols) => [...symbols].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) >>> 0, 7) % 6;

  BOT.trainingPieces = () => {
    const node = BOT.say(el("div", { class: "bot-train-pieces", dir: "auto", tabindex: 0, role: "region" }), "panel.training.pieces", "aria-label");
    let shown = []; // {node, states, state, parts: [{symbols, node}]}
    let whole = true;

    function fill(word, state) {
      word.state = state;
      word.parts = word.states[state].parts.map((symbols) => {
        const hex = spelled(symbols) || "";
        const single = symbols.length === 1;
        const piece = el("span", { class: `bot-train-piece ${single ? "is-byte" : `bot-tint-${tint(symbols)}`}` }, BOT.pieceNode(hex));
        return { symbols, node: piece };
      });
      word.node.replaceChildren(...word.parts.map((p) => p.node));
      if (word.breaks) word.node.append(el("br"));
    }

    return {
      node,
      get whole() { return whole; },
      /** The first `most` characters of the corpus; `made` is its `corpusOf`, null to show nothing. */
      set(corpus, made, most) {
        shown = [];
        let length = 0;
        const all = words(corpus);
        for (let w = 0; made && w < all.length && length < most; w++) {
          length += all[w].length;
          shown.push({ node: el("span", { class: "bot-train-word" }), states: made.stories[made.words[w]], breaks: all[w].includes("\n"), state: -1, parts: [] });
        }
        whole = shown.length === all.length;
        node.replaceChildren(...shown.map((w) => w.node), whole ? "" : "…");
      },
      /** After k merges; newest: the piece that the last of them made. */
      at(k, newest) {
        for (const word of shown) {
          const state = stateAt(word.states, k);
          if (state !== word.state) fill(word, state);
          for (const part of word.parts) part.node.classList.toggle("is-new", part.symbols === newest);
        }
      },
    };
  };
})();

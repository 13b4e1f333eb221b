/* A corpus under the merges that were learnt from it: each word's pieces after so many merges. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { signs } = BOT.spelling;
  const utf8 = new TextEncoder();
  const LONGEST = 1000; // characters of a word
  // GPT-2's words, by which the server learns; its engine's \s is Unicode's White_Space.
  const WORD = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

  /** The words of a text, which together are all of it. */
  const words = (text) => text.match(WORD) || [];
  const symbols = (word) => Array.from(utf8.encode(word), (byte) => signs.get(byte));

  /** ranks(merges) -> Map of "left\0right" to the places where that pair was learnt, rising. */
  function ranks(merges) {
    const found = new Map();
    merges.forEach(([left, right], k) => {
      const key = `${left}\0${right}`;
      if (found.has(key)) found.get(key).push(k);
      else found.set(key, [k]);
    });
    return found;
  }

  /** What becomes of one word as merge after merge is applied, each once over the whole of it from the
   *  left: [{k, parts}], parts after k merges and until the next entry. */
  function story(word, known) {
    let parts = symbols(word);
    const states = [{ k: 0, parts }];
    for (let next = 0; ;) {
      let rank = Infinity;
      for (let i = 0; i + 1 < parts.length; i++) {
        const places = known.get(`${parts[i]}\0${parts[i + 1]}`);
        const place = places && places.find((k) => k >= next);
        if (place !== undefined && place < rank) rank = place;
      }
      if (rank === Infinity) return states;
      const joined = [];
      for (let i = 0; i < parts.length; i++) {
        const pair = i + 1 < parts.length && known.get(`${parts[i]}\0${parts[i + 1]}`);
        if (pair && pair.includes(rank)) {
          joined.push(parts[i] + parts[i + 1]);
          i += 1;
        } else joined.push(parts[i]);
      }
      parts = joined;
      next = rank + 1;
      states.push({ k: next, parts });
    }
  }

  /** The place of the state after k merges. */
  function stateAt(states, k) {
    let i = states.length - 1;
    while (states[i].k > k) i -= 1;
    return i;
  }

  /** Whether a word is too long to be followed here: its merges would take the page seconds. */
  const endless = (text) => words(text).some((word) => word.length > LONGEST);

  /** corpusOf(text, merges) -> {words: [its index in `stories`], stories, total(k)}: total counts the
   *  tokens of the whole text after k merges. */
  function corpusOf(text, merges) {
    const known = ranks(merges);
    const places = new Map();
    const stories = [];
    const counts = [];
    const order = words(text).map((word) => {
      if (!places.has(word)) {
        places.set(word, stories.length);
        stories.push(story(word, known));
        counts.push(0);
      }
      const at = places.get(word);
      counts[at] += 1;
      return at;
    });
    const total = (k) => stories.reduce((sum, states, at) => sum + counts[at] * states[stateAt(states, k)].parts.length, 0);
    return { words: order, stories, total };
  }

  BOT.training = { words, endless, corpusOf, stateAt };
})();

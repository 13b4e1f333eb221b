/* A word's story as a tree: its symbols are the leaves, each merge joins two nodes, and the nodes that
 * nothing joined are the pieces.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { spelling } = BOT;

  /** A node's text to read, or its bytes in hex where they are no text: [text, whether it is hex]. */
  function label(hex) {
    const { ends, text, begins, stray } = spelling.parts(hex);
    if (stray || ends || (!text && begins)) return [BOT.hex(hex), true];
    return begins ? [`${BOT.visibleText(text)}⟨${BOT.hex(begins)}⟩`, true] : [BOT.visibleText(text), false];
  }

  /** What two symbols become: the two together, but for the mark that some vocabularies write before a
   *  part that goes on (`##`), which is left out in the middle. */
  function joined(left, right, known) {
    if (known.has(left + right)) return left + right;
    for (let n = 1; n < right.length; n++) if (known.has(left + right.slice(n))) return left + right.slice(n);
    return left + right;
  }

  /** mergeModel(story) -> {nodes, merges: [{rank, left, right, node}], roots, how}; a node is {symbol, hex,
   *  text, inHex, unknown, from, to (symbols), level, born, gone, parts}: it is there after `born`
   *  merges and until `gone` of them. left, right, node, roots: places in nodes. */
  BOT.mergeModel = (story) => {
    const how = spelling.manner(story.pieces, story.hexes);
    const known = new Set([...story.pieces, ...story.merges.flatMap(([, , left, right]) => [left, right])]);
    const odd = new Set(story.unknown);
    const nodes = [];
    function add(symbol, from, to, level, born, parts, unknown = false) {
      const hex = spelling.symbolHex(symbol, how);
      const named = how !== "bytes" && spelling.named.test(symbol); // a byte, even where it is a letter
      const [text, inHex] = unknown ? [BOT.visibleText(symbol), false] : named ? [hex, true] : label(hex);
      nodes.push({ symbol, hex, text, inHex, unknown, from, to, level, born, gone: Infinity, parts });
      return nodes.length - 1;
    }
    let alive = story.symbols.map((symbol, i) => add(symbol, i, i + 1, 0, 0, [], odd.has(i)));
    const merges = story.merges.map(([rank, at, left, right], k) => {
      const [a, b] = [alive[at], alive[at + 1]];
      const node = add(joined(left, right, known), nodes[a].from, nodes[b].to, 1 + Math.max(nodes[a].level, nodes[b].level), k + 1, [a, b]);
      nodes[a].gone = nodes[b].gone = k + 1;
      alive.splice(at, 2, node);
      return { rank, left: a, right: b, node };
    });
    return { nodes, merges, roots: alive, how, n: story.symbols.length };
  };

  BOT.mergeLabel = label;
})();

/* Several vocabularies' cuts of one text, laid together: where all of them cut, where only some do, and
 * the stretches in between.
 */
"use strict";
(() => {
  const BOT = window.BOT;

  /** Pieces [from, to) of a column that have a part in the columns x … y. */
  BOT.piecesIn = ({ over, ids }, x, y) => {
    const from = BOT.firstPast(ids.length, x, (p) => over.to[p]);
    let to = from;
    while (to < ids.length && over.from[to] < y) to++;
    return [from, to];
  };

  /** vocabsModel([answer to "compare" with one vocabulary, …]) -> the text's columns (see BOT.columns) with
   *  clusters, columns (each with `over` its places), shared and some: places (code points) where
   *  every vocabulary cuts, where not every one does; and stretches [{a, b, differs}] between the
   *  shared ones. differs: the pieces are not the same everywhere. */
  BOT.vocabsModel = (answers) => {
    const { text, n_bytes: nBytes } = answers[0];
    const laid = BOT.columns(text);
    const columns = answers.map(({ columns: [column] }) => ({ ...column, over: BOT.piecesOver(laid, column.spans, column.hexes) }));
    const times = new Map();
    for (const { ends } of columns) for (const end of ends) times.set(end, (times.get(end) || 0) + 1);
    const places = [...times.keys()].sort((a, b) => a - b);
    const shared = places.filter((end) => times.get(end) === columns.length);
    const some = places.filter((end) => times.get(end) < columns.length);

    const stretches = [];
    const next = columns.map(() => 0); // the first piece of each column that is not in a stretch yet
    let a = 0;
    const end = laid.chars.length;
    for (const b of [...shared, end]) {
      if (b === a) continue;
      const cuts = columns.map((column, c) => {
        const from = next[c];
        while (next[c] < column.ids.length && (b === end || column.spans[next[c]][0] < b)) next[c] += 1;
        return column.hexes.slice(from, next[c]).join();
      });
      stretches.push({ a, b, differs: cuts.some((cut) => cut !== cuts[0]) });
      a = b;
    }
    return { ...laid, text, nBytes, columns, shared, some, stretches, clusters: BOT.clusters(text) };
  };

  /** What the end of a piece is: "all" or "some" vocabularies cut there; "inside" of a character; null
   *  at the end of the text. */
  BOT.cutKind = (shared, { spans }, p) => {
    if (p + 1 >= spans.length) return null;
    const end = spans[p][1];
    return spans[p + 1][0] < end ? "inside" : shared.has(end) ? "all" : "some";
  };
})();

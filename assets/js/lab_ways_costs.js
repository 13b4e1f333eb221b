/* What each of the four ways costs: how many pieces this text has, against how long the list of all
 * pieces must be. And what is counted as one character.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const utf8 = new TextEncoder();

  BOT.ways = ["words", "characters", "subwords", "bytes"];
  const points = (text) => [...text].map((c) => `U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`);
  BOT.ways.points = points;

  /** How often attention compares: each of n pieces with itself and with all before it. */
  const compared = (n) => (n * (n + 1)) / 2;

  /** waysCosts() -> {node, fold, set(found), draw()}. found: {counts: {way: pieces}, distinct, n_bytes,
   *  entries: tokens of the vocabulary, or null}. */
  BOT.waysCosts = () => {
    let found = null;
    const lines = BOT.ways.map((way) => {
      const fill = el("i");
      const count = el("b");
      const entries = el("td", { class: "bot-ways-entries" });
      const row = el("tr", null,
        BOT.say(el("th", { scope: "row" }), `panel.ways.row.${way}`),
        el("td", { class: "bot-ways-count" }, el("span", { class: "bot-ways-bar", "aria-hidden": "true" }, fill), count),
        entries, BOT.say(el("td", { class: "bot-ways-means" }), `panel.ways.means.${way}`));
      return { way, row, fill, count, entries };
    });
    const head = ["way", "count", "entries", "means"].map((name) => BOT.say(el("th", { scope: "col" }), `panel.ways.cost.${name}`));
    const longer = el("p", { class: "bot-facts-line" });
    const node = el("div", null,
      el("table", { class: "bot-ways-costs" }, el("thead", null, el("tr", null, head)), el("tbody", null, lines.map((line) => line.row))),
      longer);

    const column = (name, number = true) => ({ key: `panel.ways.col.${name}`, class: number ? "bot-n" : null });
    const fold = BOT.fold({
      label: "panel.ways.table",
      columns: [column("way", false), column("count"), column("distinct"), column("bytes"), column("factor"), column("pairs"), column("entries", false)],
      rows: () => (!found ? [] : BOT.ways.map((way) => {
        const n = found.counts[way];
        const ratio = (a, b) => (b ? { text: BOT.sig(a / b), title: BOT.exact(a / b) } : "–");
        return [BOT.t(`panel.ways.row.${way}`), BOT.num(n), BOT.num(found.distinct[way]), ratio(found.n_bytes, n),
          ratio(n, found.counts.subwords), BOT.num(compared(n)), entriesOf(way)];
      })),
    });

    function entriesOf(way) {
      if (way !== "subwords") return BOT.t(`panel.ways.entries.${way}`);
      return found.entries ? BOT.num(found.entries) : "–";
    }

    function draw() {
      if (!found) return;
      const most = Math.max(1, ...Object.values(found.counts));
      for (const { way, fill, count, entries } of lines) {
        fill.style.setProperty("--share", found.counts[way] / most);
        BOT.setText(count, BOT.num(found.counts[way]));
        BOT.setText(entries, entriesOf(way));
      }
      const { subwords, bytes } = found.counts;
      longer.hidden = !subwords;
      if (subwords) {
        BOT.setText(longer, BOT.t("panel.ways.longer", { x: BOT.sig(bytes / subwords), y: BOT.sig(compared(bytes) / compared(subwords)) }));
      }
      fold.draw();
    }

    return {
      node, fold, draw,
      set(next) {
        found = next;
        draw();
      },
    };
  };

  const FAMILY = "👩\u200d👩\u200d👧\u200d👦";
  const ACCENT = "e\u0301";

  /** What a character is here, by two that are made of several code points. */
  BOT.waysCharacter = () => {
    const rows = [FAMILY, ACCENT].map((text) => {
      const says = el("span", { class: "bot-muted" });
      return { text, says, node: el("li", null, el("span", { class: "bot-ways-glyph" }, el("bdi", null, text)),
        el("span", { class: "bot-ways-parts" }, [...text].map((c, k) => [k ? " + " : null,
          el("span", null, c === "\u200d" ? null : el("bdi", null, c === "\u0301" ? `◌${c}` : c), " ", el("code", null, points(c)[0]))])),
        says) };
    });
    const node = el("div", { class: "bot-ways-character" },
      BOT.say(el("p", null), "panel.ways.character"), el("ul", null, rows.map((row) => row.node)));
    return {
      node,
      draw() {
        for (const { text, says } of rows) {
          BOT.setText(says, BOT.t("panel.ways.made_of", { k: [...text].length, bytes: utf8.encode(text).length }));
        }
      },
    };
  };
})();

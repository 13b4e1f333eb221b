/* Four ways to cut one text: words, characters, subwords, bytes, aligned to the byte. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const { tint, text: seen, piece, list } = BOT.cells;
  const SHOWN = 16; // bytes, and characters, that are named one by one under the picture

  BOT.labPanel({
    id: "ways", stage: 2, deck: "pieces",
    mount(body, ctx) {
      let found = null; // the answer with its columns

      const picture = BOT.lanes({ label: "panel.ways.picture", column: 1.75, read });
      const axis = BOT.say(el("p", { class: "bot-hint" }), "panel.ways.axis");
      const rewritten = BOT.say(el("p", { class: "bot-hint bot-lanes-loose", hidden: true }), "panel.ways.loose");
      const lacking = BOT.say(el("p", { class: "bot-hint bot-lanes-lost", hidden: true }), "panel.ways.lost");
      const joined = el("p", { class: "bot-facts-line" });
      const character = BOT.waysCharacter();
      const costs = BOT.waysCosts();
      const table = BOT.rows({ label: "panel.ways.rows", draw: line, go: (k) => picture.go(1, k), columns: [
        { key: "panel.ways.col.at", width: "4.5rem", class: "bot-n" }, { key: "panel.ways.col.character", width: "6rem", class: "bot-mono" },
        { key: "panel.ways.col.points", width: "13rem", class: "bot-mono" }, { key: "panel.ways.col.hex", width: "13rem", class: "bot-mono" },
        { key: "panel.ways.col.word", width: "10rem", class: "bot-mono" }, { key: "panel.ways.col.pieces", width: "16rem", class: "bot-mono" }] });
      const rows = el("details", { class: "bot-fold" }, BOT.say(el("summary"), "panel.ways.rows"), table.node);
      const empty = BOT.say(el("p", { class: "bot-hint", hidden: true }), "ui.lab.empty");
      const content = el("div", { class: "bot-ways" }, picture.node, axis, rewritten, lacking, joined, costs.node, character.node, costs.fold.node, rows);
      body.append(empty, content);
      content.hidden = true;

      /* ---- the four cuts, in columns ---- */

      function prepare(answer) {
        const columns = BOT.columns(answer.text);
        const { at } = columns;
        const spans = answer.pieces.map(([, start, end]) => [start, end]);
        const over = BOT.piecesOver(columns, spans, answer.hexes);
        const ofSpans = (list_) => ({ n: list_.length, from: (i) => at[list_[i][0]], to: (i) => at[list_[i][1]] });
        const places = {
          words: ofSpans(answer.words), characters: ofSpans(answer.characters),
          subwords: { n: spans.length, from: (i) => over.from[i], to: (i) => over.to[i] },
          bytes: { n: columns.bytes.length, from: (i) => i, to: (i) => i + 1 },
        };
        const n = columns.bytes.length;
        const good = new Uint8Array(n + 1);
        for (let i = 0; i < places.characters.n; i++) good[places.characters.to(i)] = 1;
        const better = (row, level) => {
          for (let i = 0; i < row.n; i++) if (good[row.to(i)] === level - 1) good[row.to(i)] = level;
        };
        better(places.words, 2);
        better(places.subwords, 3);
        return { ...answer, ...columns, ids: answer.pieces.map(([id]) => id), over, places, good, n };
      }

      const slice = ([a, b]) => found.chars.slice(a, b).join("");
      const hexByte = (k) => found.bytes[k].toString(16).padStart(2, "0");

      const fills = {
        words(i, node) {
          tint(node, i);
          node.append(BOT.visible(slice(found.words[i])));
        },
        characters(i, node) {
          const text = slice(found.characters[i]);
          tint(node, i);
          node.append(seen(text));
          const more = [...text].length;
          if (more > 1) node.append(el("sup", { class: "bot-ways-points" }, String(more)));
        },
        subwords(i, node) {
          tint(node, i);
          node.classList.toggle("is-loose", found.over.loose[i] === 1);
          node.append(...[piece(found.hexes[i])].flat().filter(Boolean));
        },
        bytes(i, node) {
          const { n, from, to } = found.places.subwords;
          const p = BOT.firstPast(n, i, to);
          if (p < n && from(p) <= i) tint(node, p); // as the piece that it is in
          else node.classList.add("is-lost");
          node.append(el("span", { class: "bot-lanes-hex" }, hexByte(i)));
        },
      };

      function model() {
        return {
          text: found.text, n: found.n, good: found.good,
          rows: BOT.ways.map((way) => ({ ...found.places[way], name: BOT.t(`panel.ways.row.${way}`), note: BOT.num(found.places[way].n),
            tall: way === "bytes" ? 1.7 : 2.2, fill: fills[way] })),
        };
      }

      /* ---- in words ---- */

      /** [from, to) of a row's cells that have a part in the columns x … y. */
      function within(row, x, y) {
        const from = BOT.firstPast(row.n, x, row.to);
        let to = from;
        while (to < row.n && row.from(to) < y) to++;
        return [from, to];
      }

      const some = (from, to, name, between) => {
        const shown = Array.from({ length: Math.min(SHOWN, to - from) }, (_, k) => name(from + k)).join(between);
        return to - from > SHOWN ? `${shown}${between}+${BOT.num(to - from - SHOWN)}` : shown || "–";
      };
      const quoted = (text) => `“\u2068${BOT.visibleText(text)}\u2069”`;

      function read({ row, i, from, to }) {
        const of = (way) => (BOT.ways[row] === way ? [i, i + 1] : within(found.places[way], from, to));
        return [
          ["words", some(...of("words"), (k) => quoted(slice(found.words[k])), " · ")],
          ["characters", some(...of("characters"), (k) => `${quoted(slice(found.characters[k]))}\u00a0${BOT.ways.points(slice(found.characters[k])).join("\u00a0")}`, " · ")],
          ["subwords", list(found.hexes, found.ids, ...of("subwords"))],
          ["bytes", some(...of("bytes"), hexByte, " ")],
        ].map(([way, text]) => [BOT.t(`panel.ways.row.${way}`), text]);
      }

      function line(cells, k) {
        const text = slice(found.characters[k]);
        const [x, y] = [found.places.characters.from(k), found.places.characters.to(k)];
        const hex = Array.from(found.bytes.subarray(x, y), (b) => b.toString(16).padStart(2, "0")).join(" ");
        const [word] = within(found.places.words, x, y);
        BOT.setText(cells[0], BOT.num(found.characters[k][0]));
        BOT.setText(cells[1], BOT.visibleText(text));
        BOT.setText(cells[2], BOT.ways.points(text).join(" "));
        BOT.setText(cells[3], hex);
        BOT.setText(cells[4], BOT.visibleText(slice(found.words[word])));
        BOT.setText(cells[5], list(found.hexes, found.ids, ...within(found.places.subwords, x, y)));
        for (const c of [2, 3, 5]) cells[c].title = cells[c].textContent;
      }

      function count() {
        const { words, characters, ids, bytes, hexes } = found;
        const lengths = { words: words.length, characters: characters.length, subwords: hexes.length, bytes: bytes.length };
        const own = (spans) => new Set(spans.map(slice)).size;
        const known = ctx.lab.tokenizers.find(({ name }) => name === found.model);
        return { counts: lengths, n_bytes: found.n_bytes, entries: (known && known.size) || null,
          distinct: { words: own(words), characters: own(characters), subwords: new Set(ids).size, bytes: new Set(bytes).size } };
      }

      function words() {
        character.draw();
        if (!found) return;
        const several = found.characters.filter(([a, b]) => b - a > 1).length;
        joined.hidden = several === 0;
        BOT.setText(joined, BOT.t("panel.ways.joined", { n: BOT.num(several), points: BOT.num(found.chars.length), characters: BOT.num(found.characters.length) }));
        rewritten.hidden = !found.over.loose.includes(1);
        lacking.hidden = !holes();
        table.redraw();
        costs.draw();
      }

      /** Whether there are columns that no piece covers. */
      function holes() {
        const { from, to } = found.over;
        let end = 0;
        for (let p = 0; p < to.length; p++) {
          if (from[p] > end) return true;
          end = Math.max(end, to[p]);
        }
        return end < found.n;
      }

      function show(answer, name) {
        const fresh = !found || found.text !== answer.text;
        found = prepare(answer);
        found.model = name;
        empty.hidden = found.n > 0;
        content.hidden = found.n === 0;
        if (!found.n) return;
        picture.set(model(), fresh);
        table.set(found.characters.length);
        costs.set(count());
        words();
      }

      ctx.on("lab.names", () => {
        if (found && found.n) costs.set(count());
      });

      return {
        draw(lab) {
          const name = lab.model;
          ctx.take("ways", {}, (answer) => show(answer, name));
        },
        lang() {
          if (!found || !found.n) return character.draw();
          picture.set(model());
          words();
        },
      };
    },
  });
})();

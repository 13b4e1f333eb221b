/* Compare vocabularies: one text, a row for each, aligned by its characters. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const { tint, text: seen, piece, list } = BOT.cells;

  BOT.labPanel({
    id: "vocabs", stage: 2, deck: "pieces", input: { text: true, model: false, models: true },
    mount(body, ctx) {
      let found = null;
      let entries = [];
      let shared = new Set();
      let at = -1; // the difference that was gone to last

      const load = BOT.labEach("compare", show);
      const again = () => ctx.follow(load()).catch(() => { /* told above */ });
      const others = BOT.labOthersBar("vocabs", body);
      const missing = BOT.labMissing(again);
      const picture = BOT.lanes({ label: "panel.vocabs.picture", column: 1.5, read });
      const summary = el("span");
      const next = BOT.say(el("button", { class: "bot-btn", type: "button", on: { click: forth } }), "panel.vocabs.next");
      const legend = el("ul", { class: "bot-vocabs-legend" }, ["all", "some", "inside"].map((kind) => el("li", null,
        el("i", { class: `bot-vocabs-mark is-${kind}`, "aria-hidden": "true" }), BOT.say(el("span"), `panel.vocabs.cut.${kind}`))));
      const axis = BOT.say(el("p", { class: "bot-hint" }), "panel.vocabs.axis");
      const facts = el("table", { class: "bot-ways-costs bot-vocabs-facts" },
        el("thead", null, el("tr", null, ["name", "tokens", "per", "chars", "size", "lost"].map((name) => BOT.say(el("th", { scope: "col" }), `panel.vocabs.col.${name}`)))));
      const rows = el("tbody");
      facts.append(rows);
      const table = BOT.rows({ label: "panel.vocabs.table", draw: line, go: (k) => look(found.stretches[k]), columns: [
        { key: "panel.vocabs.col.at", width: "7rem", class: "bot-n" }, { key: "panel.vocabs.col.text", width: "11rem", class: "bot-mono" },
        { key: "panel.vocabs.col.same", width: "7rem" }, { key: "panel.vocabs.col.cuts", width: "70rem", class: "bot-mono" }] });
      const fold = el("details", { class: "bot-fold" }, BOT.say(el("summary"), "panel.vocabs.table"), table.node);
      const empty = BOT.say(el("p", { class: "bot-hint", hidden: true }), "ui.lab.empty");
      const content = el("div", { class: "bot-ways", hidden: true }, picture.node,
        el("div", { class: "bot-vocabs-sum" }, summary, next), legend, axis, facts, fold);
      body.append(missing.node, empty, content);

      const slice = (a, b) => found.chars.slice(a, b).join("");
      const several = () => found.columns.length > 1;
      const above = () => (several() ? 2 : 1); // rows above the vocabularies': characters, whether all agree

      /* ---- the picture ---- */

      function model() {
        const { at: col, clusters, columns, stretches } = found;
        const good = new Uint8Array(found.bytes.length + 1);
        for (const k of clusters) good[col[k]] = 1;
        for (const k of found.some) if (good[col[k]]) good[col[k]] = 2;
        for (const k of found.shared) if (good[col[k]]) good[col[k]] = 3;
        const characters = { name: BOT.t("panel.vocabs.characters"), note: BOT.num(clusters.length - 1), tall: 1.9,
          n: clusters.length - 1, from: (i) => col[clusters[i]], to: (i) => col[clusters[i + 1]],
          fill(i, node) {
            node.classList.add("is-plain");
            node.append(seen(slice(clusters[i], clusters[i + 1])));
          } };
        const agree = { name: BOT.t("panel.vocabs.agree"), note: "", tall: 1.35,
          n: stretches.length, from: (i) => col[stretches[i].a], to: (i) => col[stretches[i].b],
          fill(i, node) {
            node.classList.add("is-plain", stretches[i].differs ? "is-differs" : "is-same");
            node.append(stretches[i].differs ? "≠" : "=");
          } };
        return {
          text: found.text, n: found.bytes.length, good, rules: several() ? found.shared.map((k) => col[k]) : [],
          rows: [characters, ...(several() ? [agree] : []), ...columns.map((column) => ({
            name: column.name, note: BOT.t("panel.vocabs.tokens", { n: BOT.num(column.ids.length) }), tall: 2.2,
            n: column.ids.length, from: (i) => column.over.from[i], to: (i) => column.over.to[i],
            fill(i, node) {
              tint(node, i);
              const kind = BOT.cutKind(shared, column, i);
              if (kind && (several() || kind === "inside")) node.classList.add(`cut-${kind}`);
              node.classList.toggle("is-loose", column.over.loose[i] === 1);
              node.append(...[piece(column.hexes[i])].flat().filter(Boolean));
            },
          }))],
        };
      }

      function read({ row, i, from, to }) {
        const { clusters, columns, at: col } = found;
        const first = BOT.firstPast(clusters.length - 1, from, (k) => col[clusters[k + 1]]);
        let last = first;
        while (last < clusters.length - 1 && col[clusters[last]] < to) last++;
        const text = slice(clusters[first], clusters[Math.max(first, last)]);
        return [
          [BOT.t("panel.vocabs.characters"), `“\u2068${BOT.visibleText(text)}\u2069”`],
          ...columns.map((column, c) => [column.name,
            list(column.hexes, column.ids, ...(row === c + above() ? [i, i + 1] : BOT.piecesIn(column, from, to)))]),
        ];
      }

      /** Go to a stretch: its cell among those that say whether all agree. */
      function look(stretch) {
        if (several()) picture.go(1, found.stretches.indexOf(stretch));
      }

      function forth() {
        const places = found.stretches.flatMap((s, k) => (s.differs ? [k] : []));
        if (!places.length) return;
        at = places.find((k) => k > at) ?? places[0];
        look(found.stretches[at]);
      }

      /* ---- in numbers ---- */

      function drawFacts() {
        const most = Math.max(1, ...found.columns.map((c) => c.ids.length));
        const cell = (name, attributes, ...inside) => el("td", { "data-label": BOT.t(`panel.vocabs.col.${name}`), ...attributes }, inside);
        const ratio = (name, a, b) => cell(name, b ? { title: BOT.exact(a / b) } : null, b ? BOT.sig(a / b) : "–");
        rows.replaceChildren(...found.columns.map((c) => el("tr", null,
          el("th", { scope: "row" }, el("bdi", null, c.name)),
          el("td", { class: "bot-ways-count" }, el("span", { class: "bot-ways-bar", "aria-hidden": "true" }, el("i", { style: { "--share": c.ids.length / most } })), el("b", null, BOT.num(c.ids.length))),
          ratio("per", found.nBytes, c.ids.length), ratio("chars", found.chars.length, c.ids.length),
          cell("size", null, BOT.num(c.size)), cell("lost", { class: c.lost ? "bot-vocabs-lost" : null }, c.lost ? BOT.hex(c.lost) : "–"))));
      }

      function line(cells, k) {
        const { a, b, differs } = found.stretches[k];
        BOT.setText(cells[0], b - a === 1 ? BOT.num(a) : `${BOT.num(a)}–${BOT.num(b - 1)}`);
        BOT.setText(cells[1], BOT.visibleText(slice(a, b)));
        BOT.setText(cells[2], !several() ? "–" : differs ? `≠ ${BOT.t("panel.vocabs.differs")}` : `= ${BOT.t("panel.vocabs.same")}`);
        const cuts = found.columns.map((column) => `${column.name}: ${list(column.hexes, column.ids, ...BOT.piecesIn(column, found.at[a], found.at[b]))}`);
        BOT.setText(cells[3], cuts.join("  |  "));
        for (const cell of cells) cell.title = cell.textContent;
      }

      function words() {
        const differ = found.stretches.filter((s) => s.differs).length;
        const n = found.shared.length;
        BOT.setText(summary, !several() ? BOT.t("panel.vocabs.one")
          : BOT.t("panel.vocabs.sum", { n: BOT.num(n), m: BOT.num(differ), k: BOT.num(found.stretches.length) }));
        next.hidden = !several() || differ === 0;
        legend.children[0].hidden = legend.children[1].hidden = !several();
        drawFacts();
        table.redraw();
      }

      function show(list_) {
        entries = list_;
        missing.draw(entries);
        const answers = entries.flatMap(({ name, answer }) => (answer ? [{ ...answer, columns: [{ ...answer.columns[0], name }] }] : []));
        const fresh = !found || found.text !== answers[0].text || found.columns.length !== answers.length;
        found = BOT.vocabsModel(answers);
        shared = new Set(found.shared);
        empty.hidden = found.text !== "";
        content.hidden = found.text === "";
        if (fresh) at = -1;
        if (content.hidden) return;
        picture.set(model(), fresh);
        table.set(found.stretches.length);
        words();
      }

      ctx.on("lab.others", () => {
        if (found || entries.length) again();
      });

      return {
        draw() {
          others.draw();
          return load();
        },
        lang() {
          others.draw();
          missing.draw(entries);
          if (!found || !found.text) return;
          picture.set(model());
          words();
        },
      };
    },
  });
})();

/* The parts of a comparison: both prompts as tokens, the lens of both layer by layer, and which
 * heads read the tokens that differ. Each keeps its nodes and is filled again.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const HEADS = 8; // heads listed by name

  const pool = (parent, make) => {
    const made = [];
    return (n) => {
      while (made.length < n) {
        made.push(make());
        parent.append(made[made.length - 1].node);
      }
      made.forEach((item, k) => { item.node.hidden = k >= n; });
      return made.slice(0, n);
    };
  };

  /** Tokens in a row: {node, set(tokens, marked)}; marked(k): this one is pointed at. */
  function chips(label) {
    const node = el("span", { class: "bot-pair-tokens" });
    if (label) BOT.say(node, label, "aria-label");
    const grow = pool(node, () => {
      const sign = el("span", { class: "bot-pair-sign", "aria-hidden": "true" });
      const text = el("span");
      const said = el("span", { class: "bot-visually-hidden" });
      return { node: el("span", { class: "bot-pair-token" }, text, said, sign), text, said };
    });
    return {
      node,
      set(tokens, marked = () => false) {
        grow(tokens.length).forEach((chip, k) => {
          const { hex, id, special } = tokens[k];
          BOT.show(chip.text, BOT.tokenOrNone(hex), true);
          chip.node.classList.toggle("is-special", special);
          chip.node.classList.toggle("is-differing", marked(k));
          BOT.setText(chip.said, marked(k) ? BOT.t("panel.contrast.differs") : "");
          BOT.setAttr(chip.node, "title", BOT.t("panel.contrast.token", { position: k, id }));
        });
      },
    };
  }

  /** One prompt and its answer: {node, set(side)}. */
  BOT.pairSide = (letter) => {
    const prompt = chips(`panel.contrast.prompt_${letter}`);
    const answer = chips();
    const [asked, said] = [el("p", { class: "bot-pair-plain" }), el("span", { class: "bot-pair-plain" })];
    const end = el("span", { class: "bot-muted bot-hint" });
    const node = el("div", { class: `bot-pair-side is-${letter}` },
      el("span", { class: "bot-pair-letter", "aria-hidden": "true" }, letter.toUpperCase()),
      el("div", null, asked, prompt.node,
        el("p", { class: "bot-pair-answer" }, BOT.say(el("span", { class: "bot-label" }), "panel.contrast.answer"), " ", said, " ", answer.node, " ", end)));
    // Where a character is cut into several tokens, the text is there to read as well.
    const plain = (place, text, tokens) => {
      place.hidden = tokens.every((t) => BOT.piece(t.hex).text !== null);
      BOT.show(place, text, true);
    };
    return {
      node,
      set(side) {
        prompt.set(side.prompt, (k) => side.differs.has(k));
        answer.set(side.answer);
        plain(asked, side.asked, side.prompt);
        plain(said, side.text, side.answer);
        BOT.setText(end, BOT.t(side.finish === "eos" ? "panel.contrast.ended" : "panel.contrast.cut", { n: side.answer.length }));
      },
    };
  };

  /** Both lenses down the layers: {node, set(pair, gaps), at(place)}; go(place) on click. */
  BOT.pairLadder = (go) => {
    const body = el("tbody", { on: { click: (event) => {
      const row = event.target.closest("tr");
      if (row) go(Number(row.dataset.place));
    } } });
    const head = ["place", "gap", "guess_a", "apart", "guess_b"].map((name) =>
      BOT.say(el("th", { scope: "col", class: `bot-ladder-${name}` }), `panel.contrast.col.${name}`));
    const node = BOT.say(el("div", { class: "bot-table-wrap bot-ladder-wrap", tabindex: 0, role: "region" },
      el("table", { class: "bot-table bot-ladder" }, el("thead", null, el("tr", null, head)), body)), "panel.contrast.lens", "aria-label");
    const guess = (letter) => {
      const token = el("span", { class: "bot-ladder-token" });
      const p = el("span", { class: "bot-ladder-p" });
      return { token, p, cell: el("td", { class: `bot-ladder-guess_${letter}` }, el("span", null, token, p)) };
    };
    const grow = pool(body, () => {
      const place = el("th", { scope: "row", class: "bot-ladder-place" });
      const [a, b] = [guess("a"), guess("b")];
      const number = el("td", { class: "bot-ladder-gap bot-n" });
      const bar = el("i", { class: "bot-ladder-bar", "aria-hidden": "true" });
      const sign = el("span", { class: "bot-ladder-sign" });
      const apart = el("td", { class: "bot-ladder-apart" }, bar, sign);
      return { node: el("tr", null, place, number, a.cell, apart, b.cell), place, a, b, bar, number, sign };
    });
    let rows = [];

    function put(part, pair, side, r) {
      const id = side.ids.at(r, 0);
      BOT.show(part.token, BOT.tokenOrNone(pair.pieces[id]), true);
      BOT.setText(part.p, BOT.prob(side.probs.at(r, 0)));
      BOT.setAttr(part.cell, "title", BOT.exact(side.probs.at(r, 0), true));
      return id;
    }

    return {
      node,
      set(pair, gaps) {
        const most = Math.max(...gaps) || 1;
        const places = pair.a.layers.data;
        rows = grow(places.length);
        rows.forEach((row, r) => {
          const place = places[r];
          row.node.dataset.place = String(place);
          BOT.setText(row.place, place === 0 ? BOT.t("panel.contrast.embedding") : String(place - 1));
          const split = put(row.a, pair, pair.a, r) !== put(row.b, pair, pair.b, r);
          row.node.classList.toggle("is-split", split);
          row.node.classList.toggle("is-parting", pair.parts_at !== null && place === pair.parts_at + 1);
          row.bar.style.setProperty("--share", gaps[place] / most);
          BOT.setText(row.sign, split ? "≠" : "");
          BOT.setText(row.number, BOT.sig(gaps[place], 2));
          BOT.setAttr(row.number, "title", BOT.exact(gaps[place]));
        });
      },
      at(place) {
        for (const row of rows) BOT.setAttr(row.node, "aria-current", Number(row.node.dataset.place) === place ? "true" : null);
      },
    };
  };

  /** What every head's last position reads of the tokens that differ: {node, set(pair), at(layer)}. */
  BOT.pairReads = (go) => {
    let pair = null;
    const maps = ["a", "b"].map((letter) => {
      const title = el("p", { class: "bot-pair-reads-title" });
      const empty = el("p", { class: "bot-hint" });
      const heat = BOT.heat({
        label: `panel.contrast.reads_${letter}`, tall: 14, least: 12, gutter: 30, up: letter === "a" ? "--bot-src-user" : "--bot-src-generated",
        read: (layer, head) => BOT.t("panel.contrast.read", { layer, head, p: BOT.prob(pair[letter].reads.at(layer, head)), exact: BOT.exact(pair[letter].reads.at(layer, head), true) }),
        pick: (layer) => go(layer + 1), rowName: (layer) => String(layer),
        legend: (most) => ["0", BOT.prob(most)],
      });
      const feet = [el("span"), BOT.say(el("span"), "panel.contrast.col.head"), el("span")];
      const foot = el("p", { class: "bot-pair-reads-foot", "aria-hidden": "true" }, feet);
      heat.node.insertBefore(foot, heat.node.lastChild);
      return { letter, title, empty, heat, feet, node: el("div", { class: "bot-pair-reads-map" }, title, empty, heat.node) };
    });
    const list = el("ol", { class: "bot-pair-reads-heads" });
    const grow = pool(list, () => {
      const [name, a, b] = [el("span"), el("span", { class: "bot-n" }), el("span", { class: "bot-n" })];
      return { node: el("li", null, name, a, b), name, a, b };
    });
    const strongest = BOT.say(el("p", { class: "bot-label" }), "panel.contrast.strongest");
    const node = el("div", { class: "bot-pair-reads" }, el("div", { class: "bot-pair-reads-maps" }, maps.map((m) => m.node)), strongest, list);

    // Together, since a character may be cut into several of them.
    const words = (side) => BOT.tokenText(Array.from(side.differ.data, (k) => side.prompt[k].hex).join(""));
    const value = (letter, k) => (pair[letter].reads ? pair[letter].reads.data[k] : 0);

    return {
      node,
      /** The heads that read most, strongest first: [[layer, head], …]. */
      ranked() {
        const { n_layers: L, n_heads: H } = pair.model;
        return Array.from({ length: L * H }, (_, k) => k)
          .sort((i, j) => Math.max(value("a", j), value("b", j)) - Math.max(value("a", i), value("b", i)))
          .map((k) => [Math.floor(k / H), k % H]);
      },
      set(next) {
        pair = next;
        const { n_layers: L, n_heads: H } = pair.model;
        const most = Math.max(1e-6, ...["a", "b"].flatMap((letter) => (pair[letter].reads ? Array.from(pair[letter].reads.data) : [0])));
        for (const m of maps) {
          const side = pair[m.letter];
          const missing = pair.missing.find((p) => p.part === "heads" || p.part === "writes");
          BOT.setText(m.title, BOT.t("panel.contrast.reads_title", { side: m.letter.toUpperCase(), text: words(side) || "–" }));
          m.heat.node.hidden = !side.reads;
          m.empty.hidden = Boolean(side.reads);
          if (!side.reads) BOT.setText(m.empty, side.differ.data.length && missing ? BOT.t(missing.reason, missing.values) : BOT.t("panel.contrast.reads_none"));
          else {
            m.heat.set({ rows: L, cols: H, most, value: (r, c) => side.reads.at(r, c) });
            m.heat.cursor(...this.ranked()[0]);
          }
          BOT.setText(m.feet[0], "0");
          BOT.setText(m.feet[2], String(H - 1));
        }
        const some = Boolean(pair.a.reads || pair.b.reads);
        strongest.hidden = list.hidden = !some;
        if (!some) return;
        const best = this.ranked().slice(0, HEADS);
        grow(best.length).forEach((row, k) => {
          const [layer, head] = best[k];
          BOT.setText(row.name, BOT.t("panel.contrast.head", { layer, head }));
          for (const letter of ["a", "b"]) {
            const { reads } = pair[letter];
            BOT.setText(row[letter], `${letter.toUpperCase()} ${reads ? BOT.prob(reads.at(layer, head)) : "–"}`);
          }
        });
      },
      at(place) {
        for (const m of maps) m.heat.mark(place > 0 ? { row: place - 1 } : {});
      },
    };
  };
})();

/* What stands around the byte ledger's picture: what control tokens would change, what was lost and
 * rewritten, and what the signs mean.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const words = BOT.ledgerWords;
  const utf8 = new TextEncoder();
  const SHOWN = 6; // of a list in a sentence; the table has all

  const t = (key, values) => BOT.t(`panel.ledger.${key}`, values);

  /** The first of a list as one sentence part, and how many there are besides. */
  function some(list, tell) {
    const told = list.slice(0, SHOWN).map(tell).join(t("next"));
    return list.length > SHOWN ? `${told} ${t("besides", { n: BOT.num(list.length - SHOWN) })}` : told;
  }

  const span = (a, b) => (b - a === 1 ? String(a) : `${a}–${b - 1}`);

  /** The switch for control text: {node, on, draw(plain, injected)}. */
  BOT.ledgerControl = (change) => {
    const box = el("input", { type: "checkbox", on: { change: () => change() } });
    const says = el("p", { class: "bot-ledger-says", role: "status" });
    const list = el("ul", { class: "bot-ledger-diff" });
    const node = el("div", { class: "bot-ledger-control" },
      el("label", { class: "bot-ledger-switch" }, box, BOT.say(el("span"), "panel.ledger.control")), says, list);

    const ids = (model, [from, to]) => model.ids.slice(from, to).join(" ") || "–";

    return {
      node,
      get on() { return box.checked; },
      draw(plain, injected) {
        const regions = plain && injected ? BOT.ledgerDiff(plain, injected) : [];
        list.hidden = !regions.length;
        says.hidden = !plain || (!regions.length && !box.checked);
        if (says.hidden) return list.replaceChildren();
        const chars = regions.length ? [...plain.text] : [];
        const counts = { before: BOT.num(plain.ids.length), after: injected && BOT.num(injected.ids.length) };
        BOT.setText(says, !injected ? "" : regions.length ? t("control_changes", { n: regions.length, ...counts }) : t("control_none"));
        list.replaceChildren(...regions.slice(0, SHOWN).map((r) => el("li", null,
          el("bdi", { class: "bot-mono" }, BOT.visibleText(chars.slice(r.a, r.b).join(""))), " ",
          el("span", { class: "bot-muted" }, t("control_where", { n: r.b - r.a, places: span(r.a, r.b) })), " ",
          el("span", { class: "bot-mono" }, ids(plain, r.one)), " → ", el("b", { class: "bot-mono" }, ids(injected, r.other)))),
        ...(regions.length > SHOWN ? [el("li", { class: "bot-muted" }, t("besides", { n: BOT.num(regions.length - SHOWN) }))] : []));
      },
    };
  };

  /** Counts, what was lost, and what was rewritten: {node, draw(model, lines)}. */
  BOT.ledgerNotes = () => {
    const lost = el("p", { class: "bot-note bot-note-warn" });
    const rewritten = el("p", { class: "bot-note bot-note-info" });
    const facts = el("p", { class: "bot-ledger-facts" });
    return {
      above: el("div", { class: "bot-ledger-notes" }, facts, lost, rewritten),
      draw(model) {
        const [bytes, now] = [model.text, model.normalised].map((text) => BOT.num(utf8.encode(text).length));
        const whole = model.rewrites.length ? t("joined_normalised", { bytes: now }) : t("joined");
        BOT.setText(facts, [t("facts", { n: BOT.num(model.ids.length), characters: BOT.num(model.seen.length), points: BOT.num(model.chars.length), bytes }),
          model.joined ? whole : t(model.lost.length ? "parted_lost" : "parted")].join(BOT.state.lang === "zh" ? "" : " "));
        lost.hidden = !model.lost.length;
        if (!lost.hidden) {
          BOT.setText(lost, t("lost", { n: BOT.num(model.lost.length), list: some(model.lost, (at) =>
            t("lost_one", { what: words.named(model.chars[at]), at })) }));
        }
        const changed = model.units.flatMap((unit, u) => (unit.into === null ? [] : [u]));
        rewritten.hidden = !changed.length;
        if (!rewritten.hidden) {
          BOT.setText(rewritten, t("rewritten", { n: BOT.num(changed.length), list: some(changed, (u) =>
            t("rewritten_one", { what: words.rewrittenSays(model, u), places: span(model.units[u].a, model.units[u].b) })) }));
        }
      },
    };
  };

  /** The signs that occur: {node, draw(model)}. */
  BOT.ledgerLegend = () => {
    const node = BOT.say(el("dl", { class: "bot-ledger-legend" }), "panel.ledger.signs", "aria-label");
    return {
      node,
      draw(model) {
        node.replaceChildren(...words.legend(model).map(([kind, sample, sentence]) =>
          el("div", null, el("dt", { class: `is-${kind}` }, el("bdi", null, sample)), el("dd", null, sentence))));
      },
    };
  };

  const COLUMNS = [["place", "4rem", "bot-n"], ["character", "7rem", "bot-mono"], ["points", "9rem", "bot-mono"], ["bytes", "9rem", "bot-mono"],
    ["written", "8rem", "bot-mono"], ["piece", "9rem", "bot-mono"], ["id", "5rem", "bot-n"], ["note", "17rem"]]
    .map(([name, width, kind]) => ({ key: `panel.ledger.col.${name}`, width, class: kind }));

  /** The ledger as a table, a row for each piece and for what no piece has: {node, set(model), mark(p),
   *  lang()}. */
  BOT.ledgerTable = (pick) => {
    let model = null;
    const table = BOT.rows({ label: "panel.ledger.table", columns: COLUMNS, draw: row, go: (i) => model.rows[i].piece >= 0 && pick(model.rows[i].piece) });

    /** The characters of some columns: [text, places]. */
    function covered(from, to) {
      const units = [...new Set(model.unit.slice(from, to))].filter((u) => u >= 0);
      if (!units.length) return ["", ""];
      const [a, b] = [model.units[units[0]].a, model.units[units[units.length - 1]].b];
      return [model.chars.slice(a, b).join(""), span(a, b)];
    }

    function row(cells, i) {
      const { piece: p, from, to } = model.rows[i];
      const cols = p >= 0 ? model.cols[p] : [from, to];
      const [text] = covered(...cols);
      const lost = words.chunk(model, cols);
      const values = p >= 0
        ? [p, BOT.visibleText(text), BOT.spelling.codePoints(text), BOT.hex(model.hexes[p]), BOT.visibleText(model.written[p]), words.pieceText(model, p), model.ids[p], words.notes(model, p).join(" · ")]
        : ["–", BOT.visibleText(text), BOT.spelling.codePoints(text), BOT.hex(lost), "–", "–", "–", lost ? t("part.lost") : t("part.gone")];
      values.forEach((value, c) => {
        BOT.setText(cells[c], String(value));
        BOT.setAttr(cells[c], "title", c > 0 && c !== 6 && value ? value : null);
      });
    }

    return {
      node: el("details", { class: "bot-fold" }, BOT.say(el("summary"), "panel.ledger.table"), table.node),
      set(next) {
        model = next;
        table.set(model.rows.length);
        table.current(0);
        table.redraw();
      },
      mark: (p) => table.current(model.rowOf[p]),
      lang: () => model && table.redraw(),
    };
  };
})();

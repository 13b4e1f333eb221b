/* What taking something away did: the two distributions, and the list of all that was tried. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const SHOWN = 10; // tokens drawn; all are in the table

  const TOKENS = [{ key: "panel.ablation.col.token" }, { key: "panel.ablation.col.id", class: "bot-n" },
    { key: "panel.ablation.col.before", class: "bot-n" }, { key: "panel.ablation.col.after", class: "bot-n" },
    { key: "panel.ablation.col.rank_before", class: "bot-n" }, { key: "panel.ablation.col.rank_after", class: "bot-n" },
    { key: "panel.ablation.col.logit_before", class: "bot-n" }, { key: "panel.ablation.col.logit_after", class: "bot-n" }];

  /** The two distributions of one ablation: {node, set(found)}; found null: nothing to show. */
  BOT.ablationResult = () => {
    const fact = (key) => {
      const [before, after] = [el("span"), el("strong")];
      return { before, after, node: el("div", { class: "bot-abl-fact" }, BOT.say(el("dt"), key), el("dd", null, before, el("span", { class: "bot-muted", "aria-hidden": "true" }, " → "), after)) };
    };
    const [p, rank, entropy] = ["panel.ablation.chosen_p", "panel.ablation.chosen_rank", "panel.ablation.entropy"].map(fact);
    const kl = el("dd", { class: "bot-abl-kl" });
    const facts = el("dl", { class: "bot-abl-facts" }, el("div", { class: "bot-abl-fact" }, BOT.say(el("dt"), "panel.ablation.kl"), kl), p.node, rank.node, entropy.node);
    const first = el("p", { class: "bot-abl-first" });
    const duo = BOT.duo({ label: "panel.ablation.next", first: "panel.ablation.before", second: "panel.ablation.after" });
    const note = BOT.say(el("p", { class: "bot-hint bot-abl-once" }), "panel.ablation.once");
    const table = BOT.fold({ label: "panel.ablation.table_next", columns: TOKENS, rows: lines });
    const node = el("div", { class: "bot-abl-result" }, facts, first, duo.node, note, table.node);
    let found = null;
    let lang = null;

    const put = (place, pair, say, single) => ["before", "after"].forEach((name, k) => {
      BOT.setText(place[name], say(pair[k]));
      BOT.setAttr(place[name], "title", BOT.exact(pair[k], single));
    });

    function rows() {
      const { ids, special, probs_before: a, probs_after: b, rank_before: ra, rank_after: rb, hexes, chosen } = found;
      return Array.from(ids.data, (id, k) => ({ id, k, hex: hexes[k], special: special.data[k], a: a.data[k], b: b.data[k],
        rankA: ra.data[k], rankB: rb.data[k], mark: id === chosen, note: id === chosen ? BOT.t("panel.ablation.written") : "" }))
        .sort((x, y) => Math.max(y.a, y.b) - Math.max(x.a, x.b));
    }

    function lines() {
      if (!found) return [];
      const logit = (x) => ({ text: BOT.sig(x, 4), title: BOT.exact(x, true) });
      const prob = (x) => ({ text: BOT.prob(x), title: BOT.exact(x, true) });
      return rows().map((r) => [{ hex: r.hex }, String(r.id), prob(r.a), prob(r.b), BOT.num(r.rankA), BOT.num(r.rankB),
        logit(found.logits_before.data[r.k]), logit(found.logits_after.data[r.k])]);
    }

    /** What stands first before and after, and whether that is the same. */
    function firsts() {
      const of = (ranks) => BOT.tokenOrNone(found.hexes[ranks.data.indexOf(1)] || "");
      const [was, is] = [of(found.rank_before), of(found.rank_after)];
      return BOT.t(was === is ? "panel.ablation.first_same" : "panel.ablation.first_other", { was, is });
    }

    return {
      node,
      set(next) {
        if (found === next && lang === BOT.state.lang) return;
        found = next;
        lang = BOT.state.lang;
        node.hidden = !found;
        if (!found) return;
        const k = found.ids.data.indexOf(found.chosen);
        put(p, [found.probs_before.data[k], found.probs_after.data[k]], BOT.prob, true);
        put(rank, [found.rank_before.data[k], found.rank_after.data[k]], BOT.num);
        put(entropy, [found.entropy_before, found.entropy_after], (x) => BOT.t("panel.ablation.bits", { bits: BOT.sig(x, 3) }));
        BOT.setText(kl, BOT.t("panel.ablation.bits", { bits: BOT.sig(found.kl_bits, 3) }));
        BOT.setAttr(kl, "title", BOT.exact(found.kl_bits));
        BOT.setText(first, firsts());
        const all = rows();
        const shown = all.slice(0, SHOWN);
        if (!shown.some((r) => r.mark)) shown.push(...all.filter((r) => r.mark));
        duo.set(shown);
        table.draw();
      },
    };
  };

  /** All that is known of a run: {node, draw(entries(), shown, key)}; say(entry): what was taken away;
   *  pick(entry) on a click. Sorted by how much it moved, or newest first. */
  BOT.ablationHistory = (say, pick) => {
    let byEffect = true;
    let entries = [];
    let listed = [];
    let shown = null;
    let drawn = null;
    const sorts = [true, false].map((which) => BOT.say(el("button", { type: "button", class: "bot-chip", "aria-pressed": String(which), on: { click: () => sort(which) } }), which ? "panel.ablation.by_effect" : "panel.ablation.by_time"));
    const columns = [["what", ""], ["run", "bot-n"], ["kl", "bot-n"], ["before", "bot-n"], ["after", "bot-n"], ["from", ""]];
    const body = el("tbody", { on: { click: (event) => choose(event.target.closest("tr")) } });
    const empty = BOT.say(el("p", { class: "bot-hint" }), "panel.ablation.none_yet");
    const wrap = BOT.say(el("div", { class: "bot-table-wrap bot-abl-history", tabindex: 0, role: "region" },
      el("table", { class: "bot-table" }, el("thead", null, el("tr", null, columns.map(([name, kind]) => BOT.say(el("th", { scope: "col", class: kind }), `panel.ablation.col.${name}`)))), body)), "panel.ablation.history", "aria-label");
    const node = el("section", { class: "bot-abl-known" },
      el("div", { class: "bot-abl-row" }, BOT.say(el("h4", { class: "bot-pair-head" }), "panel.ablation.history"), BOT.say(el("div", { class: "bot-pair-scales", role: "group" }, sorts), "panel.ablation.sort", "aria-label")),
      empty, wrap);
    const pool = [];

    function choose(row) {
      const k = pool.findIndex((line) => line.row === row);
      if (k >= 0) pick(listed[k]);
    }

    function sort(which) {
      byEffect = which;
      sorts.forEach((button, k) => BOT.setAttr(button, "aria-pressed", String((k === 0) === byEffect)));
      draw();
    }

    function draw() {
      listed = [...entries].sort((a, b) => (byEffect ? b.kl - a.kl : b.order - a.order));
      empty.hidden = listed.length > 0;
      wrap.hidden = !listed.length;
      while (pool.length < listed.length) {
        const button = el("button", { type: "button", class: "bot-abl-link" });
        const cells = columns.map(([, kind], k) => el("td", { class: kind }, k ? null : button));
        pool.push({ row: el("tr", null, cells), cells, button });
        body.append(pool[pool.length - 1].row);
      }
      pool.forEach(({ row, cells, button }, k) => {
        row.hidden = k >= listed.length;
        if (row.hidden) return;
        const entry = listed[k];
        BOT.setText(button, say(entry));
        const put = (c, text, title) => {
          BOT.setText(cells[c], text);
          BOT.setAttr(cells[c], "title", title === undefined ? null : title);
        };
        put(1, BOT.num(entry.step + 1));
        put(2, BOT.sig(entry.kl, 3), BOT.exact(entry.kl));
        put(3, BOT.prob(entry.before), BOT.exact(entry.before, true));
        put(4, BOT.prob(entry.after), BOT.exact(entry.after, true));
        put(5, BOT.t(entry.recorded ? "panel.ablation.recorded" : "panel.ablation.tried"));
      });
      mark();
    }

    function mark() {
      listed.forEach((entry, k) => BOT.setAttr(pool[k].row, "aria-current", entry === shown ? "true" : null));
    }

    return {
      node,
      /** key: another one where the entries or what is said of them may have changed. */
      draw(next, now, key) {
        shown = now;
        if (key === drawn) return mark();
        drawn = key;
        entries = next();
        draw();
      },
    };
  };
})();

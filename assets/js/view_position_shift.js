/* A real query and a real key, moved along the text: together their dot product stays, apart it
 * does not. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const MOST = 64; // positions that they are moved on

  const isolated = (text) => `\u2068${text}\u2069`;

  /** shiftProof() -> {node, set({data, detail, rotary, query, key}), lang()}. detail: of a head, decoded;
   *  query, key: positions. */
  BOT.shiftProof = () => {
    let shown = null;
    let values = null; // {both, one}

    const hint = el("p", { class: "bot-position-says" });
    const constant = el("p", { class: "bot-position-result" });
    const changing = el("p", { class: "bot-position-result is-other" });
    const own = el("p", { class: "bot-hint" });
    const curves = BOT.curves({
      label: "panel.position.shift", x: "panel.position.axis_s", y: "panel.position.axis_dot", tall: 250,
      series: ["panel.position.both", "panel.position.one"],
      read: (s) => BOT.t("panel.position.read", { s, both: BOT.sig(values.both[s], 6), one: BOT.sig(values.one[s], 6) }),
    });
    const column = (name) => ({ key: `panel.position.col.${name}`, class: "bot-n" });
    const fold = BOT.fold({
      label: "panel.position.shifts", columns: ["s", "both", "one"].map(column),
      rows: () => (values ? [...values.both].map((both, s) => [s, ...[both, values.one[s]].map((x) => ({ text: BOT.sig(x, 8), title: BOT.exact(x) }))]) : []),
    });
    const node = el("section", { class: "bot-position-shift" },
      BOT.say(el("h4", { class: "bot-position-title" }), "panel.position.shift"), hint,
      el("div", { class: "bot-position-pair" }, curves.node, el("div", { class: "bot-position-facts" }, constant, changing, own)));

    function words() {
      const { data, detail, query, key } = shown;
      const token = (p) => isolated(BOT.tokenText(BOT.inside.token(data, p).hex));
      const { both, one } = values;
      BOT.setText(hint, BOT.t("panel.position.shift_hint", { q: query, query: token(query), k: key, key: token(key), d: query - key }));
      let spread = 0;
      for (const dot of both) spread = Math.max(spread, Math.abs(dot - both[0]));
      BOT.setText(constant, BOT.t("panel.position.constant", { n: MOST, dot: BOT.sig(both[0], 5), spread: BOT.sig(spread, 2) }));
      BOT.setAttr(constant, "title", BOT.exact(both[0]));
      BOT.setText(changing, BOT.t("panel.position.changing", { low: BOT.sig(Math.min(...one), 4), high: BOT.sig(Math.max(...one), 4) }));
      const theirs = BOT.dot(detail.q.row(query), detail.k.row(key));
      const { softcap, scaling } = detail;
      const score = softcap ? softcap * Math.tanh((theirs * scaling) / softcap) : theirs * scaling;
      BOT.setText(own, BOT.t(softcap ? "panel.position.own_cap" : "panel.position.own", {
        dot: BOT.sig(theirs, 5), gap: BOT.sig(Math.abs(theirs - both[0]), 2), scaling: BOT.sig(scaling, 4), score: BOT.sig(score, 4), cap: BOT.sig(softcap, 3),
      }));
    }

    return {
      node, fold,
      set(next) {
        shown = next;
        const { detail, rotary, query, key } = next;
        const q = (detail.q_normed || detail.q_raw).row(query);
        const k = (detail.k_normed || detail.k_raw).row(key);
        values = BOT.shifted(rotary, q, query, k, key, MOST);
        curves.set({ ys: [values.both, values.one], mark: null });
        words();
        fold.draw();
      },
      lang() {
        if (!shown) return;
        words();
        curves.draw();
        fold.draw();
      },
    };
  };
})();

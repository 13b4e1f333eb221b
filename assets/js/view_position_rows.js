/* Models that add a row for the position (GPT-2): how long these rows are, and how alike. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  const isolated = (text) => `\u2068${text}\u2069`;
  const euclid = (v) => Math.sqrt(BOT.dot(v, v));
  const cosine = (a, b) => BOT.dot(a, b) / (euclid(a) * euclid(b));

  /** positionRows() -> {node, inside(data), show(position), lang()}. */
  BOT.positionRows = () => {
    let data = null;
    let here = 0;
    let norms = null; // {row, sum}: f64[T]
    let alike = null; // f64[T]

    const token = (p) => isolated(BOT.tokenText(BOT.inside.token(data, p).hex));
    const says = el("p", { class: "bot-position-result" });
    const end = el("p", { class: "bot-position-says" });
    const similar = el("h5", { class: "bot-position-subtitle" });
    const lengths = BOT.curves({
      label: "panel.position.norms_label", x: "panel.position.axis_p", y: "panel.position.axis_norm", tall: 210,
      series: ["panel.position.norm_row", "panel.position.norm_sum"],
      read: (p) => BOT.t("panel.position.read_norm", { p, token: token(p), row: BOT.sig(norms.row[p], 4), sum: BOT.sig(norms.sum[p], 4) }),
    });
    const likeness = BOT.curves({
      label: "panel.position.similar_label", x: "panel.position.axis_p", y: "panel.position.axis_cosine", tall: 210,
      series: ["panel.position.axis_cosine"],
      read: (p) => BOT.t("panel.position.read_cosine", { p, cosine: BOT.sig(alike[p], 4) }),
    });
    const exactly = (x) => ({ text: BOT.sig(x, 5), title: BOT.exact(x) });
    const column = (name) => ({ key: `panel.position.col.${name}`, class: name === "token" ? "bot-mono" : "bot-n" });
    const fold = BOT.fold({
      label: "panel.position.rows_table", columns: ["position", "token", "row", "sum", "cosine"].map(column),
      rows: () => (norms ? [...norms.row].map((x, p) => [p, token(p), exactly(x), exactly(norms.sum[p]), exactly(alike[p])]) : []),
      mark: () => here,
    });
    const node = el("section", { class: "bot-position-rows", hidden: true },
      BOT.say(el("h4", { class: "bot-position-title" }), "panel.position.rows"),
      BOT.say(el("p", { class: "bot-position-says" }), "panel.position.rows_hint"), says, end,
      el("div", { class: "bot-position-two" },
        el("div", null, BOT.say(el("h5", { class: "bot-position-subtitle" }), "panel.position.norms"), lengths.node),
        el("div", null, similar, likeness.node)), fold.node);

    function words() {
      const rows = data.stream.position_rows;
      BOT.setText(says, BOT.t("panel.position.rows_here", { p: here, norm: BOT.sig(norms.row[here], 4), token: token(here), sum: BOT.sig(norms.sum[here], 4) }));
      // What entered at the end of the prompt is kept whole, so the token's own row is the rest.
      const p = data.n_prompt - 1;
      const row = rows.row(p);
      const own = Float64Array.from(data.stream.prompt_end.row(0), (x, k) => x - row[k]);
      BOT.setText(end, BOT.t("panel.position.rows_end", { p, own: BOT.sig(euclid(own), 4), position: BOT.sig(norms.row[p], 4), cosine: BOT.sig(cosine(own, row), 3) }));
      BOT.setText(similar, BOT.t("panel.position.similar", { p: here }));
    }

    const draw = () => {
      words();
      lengths.set({ ys: [norms.row, norms.sum], mark: here });
      likeness.set({ ys: [alike], mark: here });
      fold.draw();
    };

    return {
      node,
      inside(next) {
        data = next;
        const rows = data.stream.position_rows;
        node.hidden = rows === null;
        norms = null;
        if (rows === null) return;
        const n = rows.shape[0];
        norms = {
          row: Float64Array.from({ length: n }, (_, p) => euclid(rows.row(p))),
          sum: Float64Array.from(data.stream.norms.row(0)),
        };
      },
      show(position) {
        if (!norms) return;
        here = position;
        const rows = data.stream.position_rows;
        const own = rows.row(here);
        alike = norms.row.map((norm, p) => BOT.dot(own, rows.row(p)) / (norms.row[here] * norm));
        draw();
      },
      lang() {
        if (norms) draw();
      },
    };
  };
})();

/* What one neuron says: the tokens that its output row lifts, and those it lowers.
 *
 * The lists are of the row and stay; which way they push at this step is the sign of its activation
 * here, said in words.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  /** One list: {node, set(hexes, ids, scores, most), turn(activation)}. */
  function side(name) {
    const head = el("h5", { class: "bot-ffn-side-head" });
    const rows = el("ol", { class: "bot-ffn-pushed" });
    let lines = []; // {score, bar, value}
    let most = 1;
    return {
      node: el("div", { class: `bot-ffn-side is-${name}` }, head, rows),
      set(hexes, ids, scores, full) {
        most = full;
        lines = hexes.map((hex, k) => {
          const [bar, value] = [BOT.balance(), el("span", { class: "bot-n" })];
          const node = el("li", { title: `id ${ids[k]}` }, el("span", { class: "bot-tok" }, BOT.pieceNode(hex)), bar.node, value);
          return { node, bar, value, score: scores[k] };
        });
        rows.replaceChildren(...lines.map((line) => line.node));
      },
      /** What it pushes here; null: not known, then of an activation of one. */
      turn(activation) {
        const by = activation === null ? 1 : activation;
        const up = (name === "up") === by >= 0;
        const known = activation !== null && activation !== 0;
        const key = known ? (up ? "panel.ffn.pushes_up" : "panel.ffn.pushes_down") : up ? "panel.ffn.would_up" : "panel.ffn.would_down";
        BOT.setText(head, `${up ? "▲" : "▼"} ${BOT.t(key)}`);
        for (const { bar, value, score } of lines) {
          const push = (known ? by : 1) * score;
          bar.set(push < 0 ? -Math.abs(score) : Math.abs(score), most);
          BOT.setText(value, BOT.signed(push));
          BOT.setAttr(value, "title", BOT.exact(push));
        }
      },
    };
  }

  /** ffnNeuron() -> {node, pending(layer, id), show(neuron), fail(error), here(activation, listed), lang()}.
   *  activation: at this step, null where it is not among the `listed` strongest. */
  BOT.ffnNeuron = () => {
    const title = el("h4", { class: "bot-ffn-neuron-title" });
    const words = el("p", { class: "bot-ffn-neuron-words" });
    const status = el("p", { class: "bot-note", role: "status" });
    const [up, down] = [side("up"), side("down")];
    const unit = el("p", { class: "bot-hint" });
    const lists = el("div", { class: "bot-ffn-sides" }, up.node, down.node);
    const table = BOT.fold({
      label: "panel.ffn.neuron_table",
      columns: [{ key: "panel.ffn.col.side" }, { key: "panel.ffn.col.token", class: "bot-mono" },
        { key: "panel.ffn.col.id", class: "bot-n" }, { key: "panel.ffn.col.score", class: "bot-n" }],
      rows: () => (shown ? [["up", shown.up_hexes, shown.up_ids, shown.up], ["down", shown.down_hexes, shown.down_ids, shown.down]]
        .flatMap(([name, hexes, ids, scores]) => hexes.map((hex, k) => [BOT.t(name === "up" ? "panel.ffn.lifts" : "panel.ffn.lowers"), { hex },
          String(ids.data[k]), { text: BOT.sig(scores.data[k], 4), title: BOT.exact(scores.data[k], true) }])) : []),
    });
    const content = el("div", null, lists, unit, table.node);
    const node = el("section", { class: "bot-ffn-neuron", "aria-live": "off" }, title, words, status, content);

    let what = null; // {layer, id}
    let shown = null;
    let failure = null;
    let at = { activation: null, listed: 0 };

    function say() {
      node.hidden = !what;
      if (!what) return;
      BOT.setText(title, BOT.t("panel.ffn.neuron_of", { id: what.id, layer: what.layer }));
      content.hidden = !shown;
      status.hidden = !!shown;
      BOT.setAttr(status, "class", `bot-note ${failure ? "bot-note-bad" : "bot-note-info"}`);
      BOT.setText(status, failure ? BOT.pick(failure.text) || BOT.t("panel.ffn.neuron_failed") : BOT.t("panel.ffn.neuron_pending"));
      turn();
    }

    function turn() {
      const { activation, listed } = at;
      const sign = activation === null ? 0 : Math.sign(activation) || 0;
      const key = activation === null ? "panel.ffn.unlisted" : sign > 0 ? "panel.ffn.positive" : sign < 0 ? "panel.ffn.negative" : "panel.ffn.silent";
      BOT.setText(words, BOT.t(key, { value: activation === null ? "" : BOT.signed(activation), k: listed }));
      BOT.setAttr(words, "data-sign", sign < 0 ? "down" : sign > 0 ? "up" : "none");
      up.turn(activation);
      down.turn(activation);
      if (shown) BOT.setText(unit, BOT.t(sign ? "panel.ffn.unit_here" : "panel.ffn.unit", { norm: BOT.sig(shown.row_norm), value: BOT.signed(activation) }));
    }

    return {
      node,
      pending(layer, id) {
        what = id === null ? null : { layer, id };
        shown = failure = null;
        say();
      },
      show(neuron) {
        shown = neuron;
        failure = null;
        const most = BOT.largest([...neuron.up.data, ...neuron.down.data]);
        up.set(neuron.up_hexes, neuron.up_ids.data, neuron.up.data, most);
        down.set(neuron.down_hexes, neuron.down_ids.data, neuron.down.data, most);
        say();
        table.draw();
      },
      fail(error) {
        failure = error;
        shown = null;
        say();
      },
      here(activation, listed) {
        at = { activation, listed };
        if (what) turn();
      },
      lang() {
        say();
        table.draw();
      },
    };
  };
})();

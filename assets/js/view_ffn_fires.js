/* Which neurons of a layer fire at which token: steps × neurons, as far as they are listed. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const ROWS = 14;

  /** The neurons listed at most steps, of equals the one that once wrote most; `pinned` first. */
  function chosen(payload, pinned) {
    const seen = new Map(); // id -> {times, most}
    payload.neurons.data.forEach((id, k) => {
      const of = seen.get(id) || { times: 0, most: 0 };
      seen.set(id, { times: of.times + 1, most: Math.max(of.most, payload.write_norms.data[k]) });
    });
    const ids = [...seen.keys()].sort((a, b) => {
      const [one, other] = [seen.get(a), seen.get(b)];
      return other.times - one.times || other.most - one.most || a - b;
    }).filter((id) => id !== pinned);
    return (pinned === null ? ids : [pinned, ...ids]).slice(0, ROWS);
  }

  /** ffnFires({pick(id, step)}) -> {node, set(data, payload, pinned), mark(step), lang()}. */
  BOT.ffnFires = ({ pick }) => {
    let data = null;
    let payload = null;
    let pinned = null;
    let ids = [];
    let places = []; // row -> step -> place among the listed, or -1
    let step = -1;

    const value = (row, i) => (places[row][i] < 0 ? NaN : payload.activation.at(i, places[row][i]));
    const token = (i, after) => BOT.tokenText(BOT.inside.token(data, data.n_prompt - 1 + i + after).hex);

    const map = BOT.heat({
      label: "panel.ffn.fires_label", signed: true, tall: 24, least: 14, gutter: 64,
      rowName: (r) => (ids[r] === pinned ? `▸${ids[r]}` : String(ids[r])),
      colName: (c) => token(c, 0),
      read(r, c) {
        const k = places[r][c];
        const values = { id: ids[r], n: c + 1, read: token(c, 0), write: token(c, 1), k: payload.neurons.shape[1] };
        if (k < 0) return BOT.t("panel.ffn.fires_not", values);
        return BOT.t("panel.ffn.fires_at", { ...values, value: BOT.signed(payload.activation.at(c, k)), norm: BOT.sig(payload.write_norms.at(c, k)) });
      },
      pick: (r, c) => pick(ids[r], c),
    });
    const table = BOT.fold({
      label: "panel.ffn.fires_table",
      columns: [{ key: "panel.ffn.col.run", class: "bot-n" }, { key: "panel.ffn.col.read", class: "bot-mono" },
        { key: "panel.ffn.col.neuron", class: "bot-n" }, { key: "panel.ffn.activation", class: "bot-n" }],
      rows: () => (data ? ids.flatMap((id, r) => places[r].flatMap((k, i) => (k < 0 ? []
        : [[String(i + 1), { hex: BOT.inside.token(data, data.n_prompt - 1 + i).hex }, String(id),
          { text: BOT.signed(value(r, i), 4), title: BOT.exact(value(r, i), true) }]]))) : []),
    });
    const node = el("section", { class: "bot-ffn-fires" },
      BOT.say(el("h4", { class: "bot-ffn-head" }), "panel.ffn.fires"), BOT.say(el("p", { class: "bot-hint" }), "panel.ffn.fires_hint"),
      map.node, table.node);

    return {
      node,
      set(next, found, pin) {
        if (data === next && payload === found && pinned === pin) return;
        [data, payload, pinned] = [next, found, pin];
        ids = chosen(payload, pinned);
        const steps = payload.neurons.shape[0];
        places = ids.map((id) => Array.from({ length: steps }, (_, i) => payload.neurons.row(i).indexOf(id)));
        map.set({ rows: ids.length, cols: steps, value, most: BOT.largest(payload.activation.data) });
        map.mark({ col: step < 0 ? null : step });
        if (step >= 0) map.cursor(0, step);
        table.draw();
      },
      mark(i) {
        step = i;
        if (!data) return;
        map.mark({ col: i < 0 ? null : i });
        if (i >= 0) map.cursor(0, i); // the chosen neuron, here
      },
      lang() {
        if (!data) return;
        map.redraw();
        table.draw();
      },
    };
  };
})();

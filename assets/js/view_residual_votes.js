/* Who voted for this token: every head's part of the logit as a map, and the strongest voters. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const TOP = 10;

  function line(list, pick, k) {
    const [name, value] = [el("span", { class: "bot-vote-name" }), el("span", { class: "bot-n" })];
    const bar = BOT.balance();
    const button = el("button", { class: "bot-vote", type: "button", on: { click: () => pick(k) } }, name, bar.node, value);
    const node = el("li", null, button);
    list.append(node);
    return {
      node,
      set(vote, most, pressed) {
        BOT.setText(name, BOT.t(vote.head === null ? (vote.kind === "ffn" ? "panel.residual.part.ffn" : "panel.residual.part.attn") : "panel.residual.vote_head", { l: vote.layer, h: vote.head }));
        BOT.setText(value, BOT.signed(vote.value));
        BOT.setAttr(value, "title", BOT.exact(vote.value, true));
        bar.set(vote.value, most);
        BOT.setAttr(button, "aria-pressed", pressed);
      },
    };
  }

  /** residualVotes({pick(layer, head)}) -> {node, inside(data), step(i), focus({layer, head}), lang()};
   *  pick's head is null for a part that is no head. */
  BOT.residualVotes = ({ pick }) => {
    let data = null;
    let i = -1;
    let focus = { layer: 0, head: 0 };
    let votes = [];

    const map = BOT.heat({
      label: "panel.residual.heads_label", signed: true, tall: 24, least: 8, gutter: 64,
      rowName: (h) => BOT.t("panel.residual.head_row", { h }), colName: (l) => String(l),
      read: (h, l) => (i < 0 ? "" : BOT.t("panel.residual.read_head", { l, h, value: BOT.signed(data.attribution.heads.at(l, h, i)) })),
      pick: (h, l) => pick(l, h),
    });
    const bias = el("p", { class: "bot-hint" });
    const list = el("ol", { class: "bot-votes" });
    const rows = BOT.pool((k) => line(list, (at) => pick(votes[at].layer, votes[at].head), k));
    const absent = el("p", { class: "bot-note bot-note-info", hidden: true });
    const table = BOT.fold({
      label: "panel.residual.heads_table",
      columns: [{ key: "panel.residual.col.layer", class: "bot-n" }, { key: "panel.residual.col.head", class: "bot-n" }, { key: "panel.residual.col.adds", class: "bot-n" }],
      rows: () => {
        const heads = data && data.attribution.heads;
        if (!heads || i < 0) return [];
        const [L, H] = heads.shape;
        return Array.from({ length: L * H }, (_, k) => [Math.floor(k / H), k % H]).map(([l, h]) =>
          [String(l), String(h), { text: BOT.signed(heads.at(l, h, i), 4), title: BOT.exact(heads.at(l, h, i), true) }]);
      },
    });
    const left = el("div", { class: "bot-vote-map" }, map.node, bias);
    const node = el("section", { class: "bot-res-part" },
      BOT.say(el("h4", { class: "bot-res-title" }), "panel.residual.heads"), BOT.say(el("p", { class: "bot-hint" }), "panel.residual.heads_hint"), absent,
      el("div", { class: "bot-vote-grid" }, left,
        el("div", null, BOT.say(el("h5", { class: "bot-label" }), "panel.residual.votes"), list)),
      table.node);

    /** The strongest parts that are a head (or, where heads can not be told, an attention) or an FFN. */
    function strongest() {
      const { attn, heads, ffn } = data.attribution;
      const [L, P] = ffn.shape;
      const found = [];
      const add = (kind, layer, head, value) => {
        const size = Math.abs(value);
        if (found.length === TOP && size <= Math.abs(found[TOP - 1].value)) return;
        let k = found.length;
        while (k && Math.abs(found[k - 1].value) < size) k--;
        found.splice(k, 0, { kind, layer, head, value });
        found.length = Math.min(TOP, found.length);
      };
      for (let l = 0; l < L; l++) {
        if (heads) for (let h = 0; h < heads.shape[1]; h++) add("head", l, h, heads.data[(l * heads.shape[1] + h) * P + i]);
        else add("attn", l, null, attn.at(l, i));
        add("ffn", l, null, ffn.at(l, i));
      }
      return found;
    }

    function draw() {
      const { heads, attn_bias: b } = data.attribution;
      if (heads) {
        const [L, H] = heads.shape;
        let most = 0;
        if (i >= 0) for (let k = i; k < heads.data.length; k += heads.shape[2]) most = Math.max(most, Math.abs(heads.data[k]) || 0);
        map.set({ rows: H, cols: L, value: (h, l) => (i < 0 ? NaN : heads.at(l, h, i)), most: most || 1 });
        let all = 0;
        if (b && i >= 0) for (let l = 0; l < L; l++) all += b.at(l, i);
        bias.hidden = !b || i < 0 || !b.data.some((x) => x !== 0);
        BOT.setText(bias, BOT.t("panel.residual.attn_bias", { value: BOT.signed(all) }));
      }
      votes = i < 0 ? [] : strongest();
      const full = votes.length ? Math.abs(votes[0].value) : 1;
      rows(votes.length).forEach((row, k) => row.set(votes[k], full, votes[k].layer === focus.layer && (votes[k].head === null ? false : votes[k].head === focus.head)));
      table.draw();
    }

    function lang() {
      const { heads } = data.attribution;
      left.hidden = table.node.hidden = !heads;
      absent.hidden = !!heads;
      if (!heads) BOT.setText(absent, BOT.inside.missing(data, "heads") || BOT.t("panel.residual.no_heads"));
      else map.redraw();
      draw();
    }

    return {
      node, lang,
      inside(next) {
        data = next;
        i = -1;
        lang();
      },
      step(next) {
        i = next;
        draw();
      },
      focus(next) {
        focus = { layer: next.layer, head: next.head };
        if (!data.attribution.heads) return draw();
        map.mark({ row: focus.head, col: focus.layer });
        map.cursor(focus.head, focus.layer);
        draw();
      },
    };
  };
})();

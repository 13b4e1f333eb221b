/* One position's query against every key: score, soft-max, weight, and what of the values is taken. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const SHOWN = 16; // keys with bars; the table has all

  /** keys() -> {node, draw(now)}; now: {data, found, position, aside}. */
  BOT.attention.keys = () => {
    let now = null;
    const title = el("h4", { class: "bot-att-title" });
    const lines = Array.from({ length: SHOWN }, line);
    const rest = el("p", { class: "bot-hint bot-att-rest" });
    const out = el("p", { class: "bot-hint" });
    const lost = BOT.say(el("p", { class: "bot-note bot-note-info", hidden: true }), "panel.attention.keys.lost");
    const table = BOT.fold({
      label: "panel.attention.keys.table",
      columns: ["position", "token", "score", "weight", "value", "share"].map((name) => ({
        key: `panel.attention.col.${name}`, class: name === "token" ? "bot-mono" : "bot-n" })),
      rows, mark: () => -1,
    });
    const list = el("ol", { class: "bot-att-keys" }, lines.map((l) => l.node));
    BOT.say(list, "panel.attention.keys.label", "aria-label");
    const body = el("div", null,
      el("div", { class: "bot-att-keyhead", "aria-hidden": "true" },
        BOT.say(el("span"), "panel.attention.keys.key"), BOT.say(el("span"), "panel.attention.keys.score"), BOT.say(el("span"), "panel.attention.keys.weight")),
      list, rest, table.node, out);
    const node = el("div", { class: "bot-att-block" }, title, lost, body);

    function line() {
      const place = el("span", { class: "bot-att-place" });
      const token = el("span", { class: "bot-att-keytok" });
      const score = { bar: el("i"), text: el("span", { class: "bot-att-n" }) };
      const weight = { bar: el("i"), text: el("span", { class: "bot-att-n" }) };
      const track = (part, kind) => el("span", { class: `bot-att-cell is-${kind}` }, el("span", { class: "bot-att-track", "aria-hidden": "true" }, part.bar), part.text);
      return { node: el("li", null, el("span", { class: "bot-att-cell is-key" }, place, token), track(score, "score"), track(weight, "weight")), place, token, score, weight };
    }

    const parts = (k) => {
      const w = now.read.weights[k];
      return { score: now.read.scores[k], w, value: BOT.attention.lengths(now.found.v)[k], share: w * BOT.attention.lengths(now.found.v)[k] };
    };

    function rows() {
      const exact = (x, text, single = true) => ({ text, title: BOT.exact(x, single) });
      return now.read.seen.map((k) => {
        const { score, w, value, share } = parts(k);
        return [k, BOT.attention.names(now.data)[k], exact(score, BOT.sig(score, 5)), exact(w, BOT.prob(w)), exact(value, BOT.sig(value, 4), false), exact(share, BOT.sig(share, 4), false)];
      });
    }

    function draw(next) {
      const { data, found, position, aside } = next;
      const name = BOT.attention.names(data);
      const read = BOT.attention.reads(found, position);
      now = { ...next, read };
      BOT.setText(title, BOT.t("panel.attention.keys.title", { position, token: name[position] }));
      lost.hidden = read !== null;
      body.hidden = read === null;
      if (!read) return;
      const order = [...read.seen].sort((a, b) => read.weights[b] - read.weights[a] || a - b);
      const full = BOT.attention.fullShade(read, aside);
      const seen = order.slice(0, SHOWN).map((k) => read.scores[k]);
      const low = Math.min(0, ...seen);
      const span = Math.max(0, ...seen) - low || 1;
      lines.forEach((l, n) => {
        const k = order[n];
        l.node.hidden = k === undefined;
        if (k === undefined) return;
        const { score, w } = parts(k);
        BOT.setText(l.place, String(k));
        BOT.setText(l.token, name[k]);
        l.token.title = name[k];
        l.score.bar.style.left = `${(100 * (Math.min(0, score) - low)) / span}%`;
        l.score.bar.style.width = `${(100 * Math.abs(score)) / span}%`;
        BOT.setAttr(l.score.bar, "class", score < 0 ? "is-below" : null);
        BOT.setText(l.score.text, BOT.sig(score));
        l.score.text.title = BOT.exact(score, true);
        l.weight.bar.style.width = `${100 * Math.min(1, w / full)}%`;
        BOT.setAttr(l.node, "class", w > full ? "is-beyond" : null);
        BOT.setText(l.weight.text, BOT.prob(w));
        l.weight.text.title = BOT.exact(w, true);
      });
      const others = order.slice(SHOWN);
      rest.hidden = others.length === 0;
      BOT.setText(rest, BOT.t("panel.attention.keys.rest", { n: BOT.num(others.length), p: BOT.prob(others.reduce((sum, k) => sum + read.weights[k], 0)) }));
      const lengths = BOT.attention.lengths(found.out);
      BOT.setText(out, BOT.t("panel.attention.keys.out", { norm: BOT.sig(lengths[read.row]),
        sum: BOT.sig(read.seen.reduce((sum, k) => sum + parts(k).share, 0)) }));
      table.draw();
    }

    return { node, draw };
  };
})();

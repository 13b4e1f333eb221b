/* How a weight came about: query times key, dimension by dimension, then the soft-max. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  /** A box of the chain: what it is, its number, and what the record says. */
  function link(key) {
    const number = el("strong", { class: "bot-qkv-number" });
    const under = el("span", { class: "bot-hint" });
    const node = el("li", null, BOT.say(el("span", { class: "bot-label" }), key), number, under);
    return { node, set(x, text, note) {
      BOT.setText(number, text);
      number.title = BOT.exact(x);
      BOT.setText(under, note || "");
    } };
  }

  /** The product of one query with one key: everything again in float64 from the recorded vectors. */
  BOT.qkv.product = (found, position, key, read) => {
    const q = found.q.row(position);
    const k = found.k.row(key);
    const products = Float64Array.from(q, (x, i) => x * k[i]);
    const sum = products.reduce((a, b) => a + b, 0);
    const scaled = sum * found.scaling;
    const score = found.softcap === null ? scaled : found.softcap * Math.tanh(scaled / found.softcap);
    const top = read.scores[read.peak];
    const share = (s) => Math.exp(s - top);
    const total = read.seen.reduce((a, j) => a + share(read.scores[j]), 0);
    return { q, k, products, sum, scaled, score, top, share: share(read.scores[key]), total, weight: share(read.scores[key]) / total };
  };

  /** dot() -> {node, inside(data), draw(now)}; now: {data, found, position}. */
  BOT.qkv.dot = () => {
    let now = null;
    let chosen = null; // the key that the reader chose; null is the strongest
    let order = []; // visible keys by falling weight
    let it = null; // the product shown

    const keys = BOT.rows({
      label: "panel.qkv.keys.label",
      columns: [{ key: "panel.attention.col.position", width: "4.4rem", class: "bot-n" }, { key: "panel.attention.col.token", width: "8rem", class: "bot-mono" },
        { key: "panel.attention.col.weight", width: "5.6rem", class: "bot-n" }],
      draw(cells, n) {
        const k = order[n];
        BOT.setText(cells[0], String(k));
        BOT.setText(cells[1], BOT.attention.names(now.data)[k]);
        BOT.setText(cells[2], BOT.prob(now.read.weights[k]));
        cells[2].title = BOT.exact(now.read.weights[k], true);
      },
      go: (n) => choose(order[n]),
    });
    const dial = BOT.dial({ key: "panel.qkv.key", name: (k) => `${k}  ${BOT.attention.names(now.data)[k]}`, get: key, set: choose });
    const strongest = BOT.say(el("button", { class: "bot-chip bot-att-follow", type: "button", on: { click: () => choose(null) } }), "panel.qkv.strongest");
    const group = BOT.qkv.strips({ read: (i) => BOT.t("panel.qkv.product", { i: BOT.num(i), q: BOT.sig(it.q[i], 4), k: BOT.sig(it.k[i], 4), product: BOT.sig(it.products[i], 4) }) });
    const rows = ["query", "key", "products"].map((name) => {
      const label = el("span", { class: "bot-label" });
      const facts = el("span", { class: "bot-hint" });
      const strip = group.add(() => label.textContent);
      return { name, label, facts, strip, node: el("div", { class: "bot-qkv-stage" }, el("p", { class: "bot-qkv-stagehead" }, label, facts), strip.node) };
    });
    const links = Object.fromEntries(["sum", "scaled", "capped", "weight"].map((name) => [name, link(`panel.qkv.chain.${name}`)]));
    const chain = el("ol", { class: "bot-qkv-chain" }, Object.values(links).map((l) => l.node));
    const steps = Array.from({ length: 4 }, () => el("p", { class: "bot-hint" }));
    const lost = BOT.say(el("p", { class: "bot-note bot-note-info", hidden: true }), "panel.attention.keys.lost");
    const table = BOT.fold({
      label: "panel.qkv.products.table",
      columns: ["dimension", "query", "key", "products"].map((name) => ({ key: `panel.qkv.col.${name}`, class: "bot-n" })),
      rows: () => Array.from(it.products, (x, i) => [i, BOT.exact(it.q[i], true), BOT.exact(it.k[i], true), BOT.exact(x)].map((s) => String(s).replace("-", "−"))),
    });
    const body = el("div", { class: "bot-qkv-dot" },
      el("div", { class: "bot-qkv-list" }, el("div", { class: "bot-dials" }, dial.node, strongest), keys.node),
      el("div", { class: "bot-att-block" }, rows.map((r) => r.node), group.readout, chain, steps, table.node));
    const node = el("div", { class: "bot-att-block" }, BOT.say(el("h4", { class: "bot-att-title" }), "panel.qkv.dot.title"),
      BOT.say(el("p", { class: "bot-att-axis" }), "panel.qkv.dot.axes"), lost, body);

    function key() {
      const there = now && now.read && chosen !== null && now.read.scores[chosen] > -Infinity;
      return there ? chosen : now && now.read ? now.read.peak : 0;
    }

    function choose(k) {
      chosen = k;
      draw(now);
    }

    const differs = (mine, recorded, text) => BOT.t("panel.qkv.recorded", { recorded: text(recorded), gap: BOT.sig(Math.abs(mine - recorded), 2) });

    function chained(k) {
      const { found, read } = now;
      const score = read.scores[k];
      const capped = found.softcap !== null;
      links.sum.set(it.sum, BOT.sig(it.sum, 5), BOT.t("panel.qkv.count", { n: BOT.num(it.products.length) }));
      links.scaled.set(it.scaled, BOT.sig(it.scaled, 5), capped ? "" : differs(it.score, score, (x) => BOT.sig(x, 5)));
      links.capped.node.hidden = !capped;
      if (capped) links.capped.set(it.score, BOT.sig(it.score, 5), differs(it.score, score, (x) => BOT.sig(x, 5)));
      links.weight.set(it.weight, BOT.prob(it.weight), differs(it.weight, read.weights[k], BOT.prob));
      const fields = { e: BOT.num(it.products.length), sum: BOT.sig(it.sum, 5), scaling: BOT.exact(Number(found.scaling.toPrecision(6))), scaled: BOT.sig(it.scaled, 5),
        score: BOT.sig(it.score, 5), top: BOT.sig(it.top, 5), share: BOT.sig(it.share, 4), total: BOT.sig(it.total, 4), weight: BOT.prob(it.weight),
        n: BOT.num(read.seen.length), cap: capped ? BOT.sig(found.softcap) : "" };
      const sentences = ["panel.qkv.scaled", ...(capped ? ["panel.qkv.capped"] : []), "panel.qkv.softmax", "panel.qkv.equal"];
      steps.forEach((line, n) => BOT.setText(line, sentences[n] ? BOT.t(sentences[n], fields) : ""));
    }

    function draw(next) {
      const { data, found, position } = next;
      const read = BOT.attention.reads(found, position);
      now = { ...next, read };
      lost.hidden = read !== null;
      body.hidden = read === null;
      if (!read) return;
      order = [...read.seen].sort((a, b) => read.weights[b] - read.weights[a] || a - b);
      const k = key();
      it = BOT.qkv.product(found, position, k, read);
      keys.set(order.length);
      keys.redraw();
      keys.current(order.indexOf(k));
      dial.set(data.ids.data.length, (j) => read.scores[j] > -Infinity);
      BOT.setAttr(strongest, "aria-pressed", chosen === null);
      const name = BOT.attention.names(data);
      const says = { query: { position, token: name[position], head: found.head }, key: { position: k, token: name[k], kv: found.kv }, products: {} };
      for (const row of rows) {
        const values = { query: it.q, key: it.k, products: it.products }[row.name];
        const most = BOT.qkv.most(values);
        row.strip.set(values, most);
        BOT.setText(row.label, BOT.t(`panel.qkv.dot.${row.name}`, says[row.name]));
        BOT.setText(row.facts, BOT.t("panel.qkv.height", { most: BOT.sig(most) }));
      }
      group.say();
      chained(k);
      table.draw();
    }

    return {
      node, draw,
      /** Another run: nothing is chosen in it yet. */
      inside() {
        chosen = null;
        order = [];
        keys.set(0);
        now = null;
      },
    };
  };
})();

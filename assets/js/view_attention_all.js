/* Every head of every layer at one step: what the position that answers reads, one shade each. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const SHADES = ["sink", "entropy", "peak"];
  const tall = (rows) => (rows <= 12 ? 24 : rows <= 20 ? 17 : 11);

  /** all(ctx) -> {node, draw(now)}; now: {data, i, at: the answering position}. */
  BOT.attention.all = (ctx) => {
    let now = null;
    let shade = "sink";
    const radios = SHADES.map((name) => BOT.say(el("button", { class: "bot-btn", type: "button", role: "radio", "data-bot-keys": "own",
      on: { click: () => choose(name) } }), `panel.attention.shade.${name}`));
    const choice = BOT.say(el("div", { class: "bot-choice", role: "radiogroup", on: { keydown } }, radios), "panel.attention.shade", "aria-label");
    const hint = el("p", { class: "bot-hint" });
    const away = BOT.say(el("p", { class: "bot-note bot-note-info", role: "status", hidden: true }), "ui.inside.not_recorded");
    const box = el("div", { class: "bot-att-all" });
    const heatOf = BOT.attention.heats(box, (height) => BOT.heat({
      label: "panel.attention.all.label", tall: height, least: 8, gutter: 30, read, pick, legend,
      rowName: (h) => String(h), colName: (l) => String(l),
    }));
    const table = BOT.fold({
      label: "panel.attention.all.table",
      columns: ["layer", "head", "sink", "entropy", "key", "token", "weight"].map((name) => ({
        key: `panel.attention.col.${name}`, class: name === "token" ? "bot-mono" : "bot-n" })),
      rows, mark: () => ctx.focus.layer * now.data.model.n_heads + ctx.focus.head,
      pick: (k) => pick(k % now.data.model.n_heads, Math.floor(k / now.data.model.n_heads)),
    });
    const node = el("div", { class: "bot-att-block" },
      el("div", { class: "bot-att-head" }, BOT.say(el("h4", { class: "bot-att-title" }), "panel.attention.all.title"),
        el("div", { class: "bot-att-choice" }, BOT.say(el("span", { class: "bot-label", "aria-hidden": "true" }), "panel.attention.shade"), choice)),
      BOT.say(el("p", { class: "bot-att-axis" }), "panel.attention.all.axes"), box, hint, away, table.node);
    choose(shade);

    /** The numbers of one head at this step. */
    function of(layer, head) {
      const { heads } = now.data;
      const i = Math.max(0, now.i);
      const peak = heads.peak.at(layer, head, i);
      return { sink: heads.sink.at(layer, head, i), entropy: heads.entropy_bits.at(layer, head, i),
        peak: heads.peak_weight.at(layer, head, i), key: peak, token: BOT.attention.names(now.data)[peak] };
    }

    function read(head, layer) {
      const x = of(layer, head);
      return BOT.t("panel.attention.all.read", { layer, head, sink: BOT.prob(x.sink), entropy: BOT.sig(x.entropy), key: x.key, token: x.token, weight: BOT.prob(x.peak) });
    }

    function rows() {
      const { n_layers: L, n_heads: H } = now.data.model;
      const exact = (x, text) => ({ text, title: BOT.exact(x, true) });
      return Array.from({ length: L * H }, (_, k) => {
        const [layer, head] = [Math.floor(k / H), k % H];
        const x = of(layer, head);
        return [layer, head, exact(x.sink, BOT.prob(x.sink)), exact(x.entropy, BOT.sig(x.entropy)), x.key, x.token, exact(x.peak, BOT.prob(x.peak))];
      });
    }

    function pick(head, layer) {
      const there = now.data.layers.includes(layer);
      away.hidden = there;
      if (there) ctx.setFocus({ layer, head });
    }

    const bits = () => Math.log2(now.at + 1);
    const legend = (most) => (shade === "entropy" ? ["0", BOT.t("panel.attention.bits", { n: BOT.sig(most) })] : ["0%", BOT.prob(most)]);

    function choose(name) {
      shade = name;
      radios.forEach((radio, k) => {
        BOT.setAttr(radio, "aria-checked", SHADES[k] === name);
        BOT.setAttr(radio, "tabindex", SHADES[k] === name ? 0 : -1);
      });
      if (now) draw(now);
    }

    function keydown(event) {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      const k = (SHADES.indexOf(shade) + by + SHADES.length) % SHADES.length;
      choose(SHADES[k]);
      radios[k].focus();
    }

    function draw(next) {
      now = next;
      const { n_layers: L, n_heads: H } = now.data.model;
      const heat = heatOf(tall(H));
      const most = shade === "entropy" ? bits() || 1 : 1;
      heat.mark({ row: ctx.focus.head, col: ctx.focus.layer });
      const values = now.data.heads[{ sink: "sink", entropy: "entropy_bits", peak: "peak_weight" }[shade]];
      heat.set({ rows: H, cols: L, most, value: (head, layer) => values.at(layer, head, Math.max(0, now.i)) });
      BOT.setText(hint, BOT.t(`panel.attention.shade.${shade}.hint`, { n: BOT.num(now.at + 1), bits: BOT.sig(bits()) }));
      table.draw();
    }

    return {
      node, draw,
      /** The head chosen is another. */
      mark() {
        away.hidden = true;
        const heat = heatOf(tall(now.data.model.n_heads));
        heat.mark({ row: ctx.focus.head, col: ctx.focus.layer });
        heat.cursor(ctx.focus.head, ctx.focus.layer);
        table.draw();
      },
    };
  };
})();

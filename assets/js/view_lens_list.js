/* Beside the map of the lens: the guesses of one step as a list, and the line on the map from where
 * on the chosen token stays first. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  /** The token with this id as one line of text, as the inspection names it. */
  BOT.idText = (data, id) => {
    const hex = data.pieces[id];
    return hex ? BOT.tokenText(hex) : hex === "" ? "∅" : `#${id}`;
  };

  /** lensList(tall) -> {node, step(data, i)}: for every row of the lens the top guess with its
   *  probability, and the chosen token's probability and rank; rows are `tall` px high. */
  BOT.lensList = (tall) => {
    const body = el("tbody");
    const columns = ["layer", "guess", "p", "chosen", "rank"];
    const node = el("table", { class: "bot-lens-list" },
      BOT.say(el("caption", { class: "bot-visually-hidden" }), "panel.lens.list"),
      el("thead", null, el("tr", null, columns.map((name) =>
        BOT.say(el("th", { scope: "col", class: `bot-lens-${name}` }), `panel.lens.col.${name}`)))), body);
    const pool = [];

    function line() {
      const cells = Object.fromEntries(columns.map((name) => [name, el(name === "layer" ? "th" : "td", { class: `bot-lens-${name}` })]));
      cells.layer.scope = "row";
      const guess = el("bdi");
      const tag = BOT.say(el("span", { class: "bot-lens-tag", hidden: true }), "panel.lens.from_here");
      const share = el("span", { class: "bot-lens-share" });
      const says = el("span");
      cells.guess.append(guess, tag);
      cells.p.append(share, says);
      const row = el("tr", { style: { height: `${tall}px` } }, Object.values(cells));
      body.append(row);
      return { row, cells, guess, tag, share, says };
    }

    const end = (r, n) => (r === 0 ? ` ${BOT.t("panel.lens.embedding")}` : r === n ? ` ${BOT.t("panel.lens.output")}` : "");

    return {
      node,
      step(data, i) {
        const { lens } = data;
        const layers = lens.layers.data;
        const chosen = data.chosen.at(i);
        const from = lens.settled ? lens.settled.at(i) : -1;
        while (pool.length < layers.length) pool.push(line());
        pool.forEach(({ row, cells, guess, tag, share, says }, k) => {
          row.hidden = k >= layers.length;
          if (row.hidden) return;
          const id = lens.ids.at(k, i, 0);
          const p = lens.probs.at(k, i, 0);
          const own = lens.prob.at(k, i);
          BOT.setText(cells.layer, `${layers[k]}${end(layers[k], data.model.n_layers)}`);
          BOT.setText(guess, BOT.idText(data, id));
          row.classList.toggle("is-chosen", id === chosen);
          row.classList.toggle("is-settled", from >= 0 && layers[k] >= from);
          tag.hidden = layers[k] !== from;
          share.style.setProperty("--share", p);
          BOT.setText(says, BOT.prob(p));
          BOT.setAttr(cells.p, "title", BOT.exact(p, true));
          BOT.setText(cells.chosen, BOT.prob(own));
          BOT.setAttr(cells.chosen, "title", BOT.exact(own, true));
          BOT.setText(cells.rank, BOT.num(lens.rank.at(k, i)));
        });
      },
    };
  };

  /** lensStairs(heat, tall, gutter) -> {set(lens), show(i)}: a line over the map at the top of the
   *  row from which on each step's token stays first; show brings a step's column into view. */
  BOT.lensStairs = (heat, tall, gutter) => {
    const path = BOT.svg("path", { class: "bot-lens-stairs-line", "vector-effect": "non-scaling-stroke" });
    const svg = BOT.svg("svg", { class: "bot-lens-stairs", preserveAspectRatio: "none", "aria-hidden": "true" }, path);
    const wrap = heat.canvas.parentNode;
    wrap.classList.add("bot-lens-wrap");
    wrap.append(svg);
    let steps = 1;
    let wide = 0; // px of the canvas
    let room = 0; // px of it that are seen
    BOT.onWidth(wrap, (next) => { room = next; });

    function place() {
      [wide] = heat.size();
      svg.style.width = `${Math.max(0, wide - gutter)}px`;
    }
    new ResizeObserver(place).observe(heat.canvas);

    return {
      set(lens) {
        steps = lens.prob.shape[1];
        const rows = lens.layers.shape[0];
        BOT.setAttr(svg, "viewBox", `0 0 ${steps} ${rows}`);
        svg.style.height = `${rows * tall}px`;
        svg.style.insetInlineStart = `${gutter}px`;
        const at = lens.settled ? [...lens.settled.data] : [];
        BOT.setAttr(path, "d", at.map((r, i) => {
          if (r < 0) return "";
          return `${i > 0 && at[i - 1] >= 0 ? "L" : "M"}${i} ${r}H${i + 1}`;
        }).join(""));
        place();
      },
      show(i) {
        if (wide <= room) return;
        const x = gutter + ((i + 0.5) * (wide - gutter)) / steps;
        const from = wrap.scrollLeft;
        if (x < from + gutter || x > from + room - 20) wrap.scrollLeft = x - room / 2;
      },
    };
  };
})();

/* What can be taken away, and beside it what is known of taking it away: tokens as chips, the FFN
 * of each layer as a bar, every head as a cell. Shade, height and number all say the same: how far
 * the next token's distribution moved.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  /** One stop for the Tab key, arrows inside: the keys move among `items` that are shown. */
  function roving(node, items) {
    const shown = () => items.filter((item) => !item.hidden);
    node.setAttribute("data-bot-keys", "own");
    node.addEventListener("keydown", (event) => {
      const list = shown();
      const k = list.indexOf(document.activeElement);
      const to = { ArrowRight: k + 1, ArrowDown: k + 1, ArrowLeft: k - 1, ArrowUp: k - 1, Home: 0, End: list.length - 1 }[event.key];
      if (k < 0 || to === undefined) return;
      event.preventDefault();
      aim(list[Math.max(0, Math.min(list.length - 1, to))]).focus();
    });
    let stop = null;
    const aim = (item) => {
      if (stop && stop !== item) stop.tabIndex = -1;
      stop = item;
      item.tabIndex = 0;
      return item;
    };
    return aim;
  }

  /** Buttons with a number under each: {node, set(n, face(k)), draw({shown, of(k), chosen, name(k)})}.
   *  set: n of them, their faces put in once. draw: the first `shown` can be had; of(k): bits or
   *  undefined; name(k): the whole of it in words. */
  function buttons(kind, label, pick) {
    const node = BOT.say(el("div", { class: `bot-abl-${kind}`, role: "group" }), label, "aria-label");
    const items = [];
    const parts = [];
    const aim = roving(node, items);
    node.addEventListener("click", (event) => {
      const k = items.indexOf(event.target.closest("button"));
      if (k < 0) return;
      aim(items[k]);
      pick(k);
    });
    return {
      node,
      set(n, face) {
        while (items.length < n) {
          const part = { face: el("span", { class: "bot-abl-face" }), bar: el("i", { "aria-hidden": "true" }), number: el("span", { class: "bot-abl-bits" }) };
          const item = el("button", { type: "button", class: "bot-abl-item", tabindex: items.length ? -1 : 0 }, part.face, part.bar, part.number);
          items.push(item);
          parts.push(part);
          node.append(item);
        }
        items.forEach((item, k) => {
          item.hidden = k >= n;
          parts[k].said = null;
          if (k < n) face(parts[k].face, k, item);
        });
      },
      draw({ shown, of, chosen, name }) {
        let most = 0;
        for (let k = 0; k < shown; k++) most = Math.max(most, of(k) || 0);
        items.forEach((item, k) => {
          item.hidden = k >= shown;
          if (item.hidden) return;
          const bits = of(k);
          BOT.setAttr(item, "aria-pressed", String(k === chosen));
          item.style.setProperty("--share", bits === undefined || most === 0 ? 0 : bits / most);
          const said = `${bits} ${BOT.state.lang}`;
          if (parts[k].said === said) return; // most steps change nothing of it
          parts[k].said = said;
          item.classList.toggle("is-known", bits !== undefined);
          BOT.setText(parts[k].number, bits === undefined ? "" : BOT.sig(bits, 2));
          const words = name(k);
          BOT.setAttr(item, "title", words);
          BOT.setAttr(item, "aria-label", words);
        });
      },
    };
  }

  const bitsSaid = (bits) => BOT.t(bits === undefined ? "panel.ablation.untried" : "panel.ablation.moves", { bits: BOT.sig(bits === undefined ? 0 : bits, 3) });

  /** The three pickers: {tokens, ffn, heads} nodes and draw(view). pick(kind, value) on a choice;
   *  heads by [layer, head]. view: {data, step, of(question) -> bits or undefined, question}. */
  BOT.ablationPickers = (pick) => {
    let view = null;
    let faces = null;
    let painted = ""; // the cells as they were painted last
    let later = 0;
    const tokens = buttons("tokens", "panel.ablation.tokens", (k) => pick("hide", k));
    const ffn = buttons("ffn", "panel.ablation.ffn", (k) => pick("ffn", k));
    const bits = (layer, head) => view.of({ hide: null, head: [layer, head], ffn: null });
    const heads = BOT.heat({
      label: "panel.ablation.heads", tall: 11, least: 12, gutter: 30,
      read: (layer, head) => `${BOT.t("panel.ablation.head_of", { layer, head })}: ${bitsSaid(bits(layer, head))}`,
      pick: (layer, head) => pick("head", [layer, head]), rowName: (layer) => String(layer), colName: (head) => String(head),
      legend: (most) => ["0", BOT.t("panel.ablation.bits", { bits: BOT.sig(most, 2) })],
    });

    function fill(data) {
      faces = data;
      tokens.set(data.ids.data.length, (face, k, item) => {
        const token = BOT.inside.token(data, k);
        BOT.show(face, BOT.tokenOrNone(token.hex), true);
        item.classList.toggle("is-special", Boolean(token.special));
        item.classList.toggle("is-answer", token.where === "answer");
      });
      ffn.set(data.model.n_layers, (face, k) => BOT.setText(face, String(k)));
    }

    return {
      tokens: tokens.node, ffn: ffn.node, heads: heads.node,
      draw(next) {
        view = next;
        const { data, step, question } = view;
        if (faces !== data) fill(data);
        const { n_layers: L, n_heads: H } = data.model;
        const alone = (name, k) => view.of({ hide: null, head: null, ffn: null, [name]: k });
        tokens.draw({
          shown: data.n_prompt + step, of: (k) => alone("hide", k), chosen: question.hide,
          name: (k) => `${BOT.t("panel.ablation.token_of", { token: BOT.tokenOrNone(BOT.inside.token(data, k).hex), position: k })}: ${bitsSaid(alone("hide", k))}`,
        });
        ffn.draw({
          shown: L, of: (k) => alone("ffn", k), chosen: question.ffn,
          name: (k) => `${BOT.t("panel.ablation.ffn_of", { layer: k })}: ${bitsSaid(alone("ffn", k))}`,
        });
        const cells = Float64Array.from({ length: L * H }, (_, k) => { const x = bits(Math.floor(k / H), k % H); return x === undefined ? NaN : x; });
        const now = `${L} ${H} ${cells} ${BOT.state.lang}`;
        const most = cells.reduce((a, x) => (x > a ? x : a), 0) || 1;
        clearTimeout(later);
        // After the frame: a canvas asks for the colours of the page, which would have it styled twice.
        later = setTimeout(() => {
          if (now !== painted) heads.set({ rows: L, cols: H, most, value: (l, h) => cells[l * H + h] });
          painted = now;
          heads.mark(question.head ? { row: question.head[0], col: question.head[1] } : {});
        });
      },
    };
  };
})();

/* Where q, k and v come from: the three projections to scale, and who shares which key and value. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  /** A projection: d_model rows, a slice of columns for each head, that of the chosen head lit. */
  function matrix(name) {
    const slice = el("i");
    const box = el("div", { class: "bot-qkv-matrix", "aria-hidden": "true" }, slice);
    const shape = el("p", { class: "bot-qkv-shape" });
    const which = el("p", { class: "bot-hint" });
    return {
      node: el("li", null, el("p", { class: "bot-qkv-letter" }, BOT.say(el("span"), `panel.qkv.${name}.short`)), box, shape, which),
      set(model, heads, head) {
        const { d_model: d, d_head: e } = model;
        box.style.setProperty("--out", (heads * e) / d);
        box.style.setProperty("--heads", heads);
        slice.style.insetInlineStart = `${(100 * head) / heads}%`;
        slice.style.width = `${100 / heads}%`;
        BOT.setText(shape, BOT.t("panel.qkv.shape", { d: BOT.num(d), heads: BOT.num(heads), e: BOT.num(e), out: BOT.num(heads * e) }));
        BOT.setText(which, BOT.t("panel.qkv.slice", { from: BOT.num(head * e), to: BOT.num((head + 1) * e - 1) }));
      },
    };
  }

  /** share(ctx) -> {node, inside(data), draw(kv)}: kv is the kv head that the chosen head reads. */
  BOT.qkv.share = (ctx) => {
    const matrices = { q: matrix("q"), k: matrix("k"), v: matrix("v") };
    const groups = el("ol", { class: "bot-qkv-groups", on: { click: (event) => {
      const button = event.target.closest("button");
      if (button) ctx.setFocus({ head: Number(button.dataset.head) });
    } } });
    const says = el("p", { class: "bot-qkv-says" });
    const list = el("ul", { class: "bot-qkv-matrices" }, matrices.q.node, matrices.k.node, matrices.v.node);
    const node = el("div", { class: "bot-qkv-from" },
      el("div", { class: "bot-att-block" }, BOT.say(el("h4", { class: "bot-att-title" }), "panel.qkv.project.title"),
        BOT.say(el("p", { class: "bot-att-axis" }), "panel.qkv.project.axes"), list),
      el("div", { class: "bot-att-block" }, BOT.say(el("h4", { class: "bot-att-title" }), "panel.qkv.share.title"),
        BOT.say(el("p", { class: "bot-att-axis" }), "panel.qkv.share.axes"), groups, says));
    let data = null;
    let boxes = []; // of each kv head: {node, heads: [button], kv}

    function build() {
      const { n_heads: H, n_kv_heads: G } = data.model;
      boxes = Array.from({ length: G }, (_, g) => {
        const heads = Array.from({ length: H / G }, (_, k) => {
          const head = (g * H) / G + k;
          return el("button", { class: "bot-btn", type: "button", "data-head": head }, String(head));
        });
        const kv = el("span", { class: "bot-qkv-kv" }, `kv ${g}`);
        return { heads, node: el("li", { class: "bot-qkv-group" }, el("div", { class: `bot-qkv-heads${H === G ? " is-one" : ""}` }, heads), el("i", { class: "bot-qkv-fork", "aria-hidden": "true" }), kv) };
      });
      groups.replaceChildren(...boxes.map((box) => box.node));
    }

    function draw(kv) {
      const { n_heads: H, n_kv_heads: G } = data.model;
      const { head } = ctx.focus;
      list.style.setProperty("--sum", ((H + 2 * G) * data.model.d_head) / data.model.d_model);
      matrices.q.set(data.model, H, head);
      matrices.k.set(data.model, G, kv);
      matrices.v.set(data.model, G, kv);
      boxes.forEach((box, g) => {
        BOT.setAttr(box.node, "data-lit", g === kv ? "" : null);
        for (const button of box.heads) {
          BOT.setAttr(button, "aria-pressed", Number(button.dataset.head) === head);
          BOT.setAttr(button, "aria-label", BOT.t("panel.qkv.share.head", { head: button.dataset.head, kv: g }));
        }
      });
      const per = H / G;
      const key = per === 1 ? "own" : G === 1 ? "one" : "group";
      BOT.setText(says, BOT.t(`panel.qkv.share.${key}`, { head, kv, heads: BOT.num(H), groups: BOT.num(G), per: BOT.num(per),
        first: kv * per, last: (kv + 1) * per - 1 }));
    }

    return {
      node, draw,
      inside(next) {
        data = next;
        build();
      },
    };
  };
})();

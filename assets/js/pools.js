/* Pieces that the panels on the FFN and on the residual stream share: nodes used again, the line
 * that says which position is looked at, and bars from a zero line.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, svg } = BOT;

  /** pool(make) -> take(n): n nodes that `make(k)` made and appended, those beyond n hidden. More
   *  nodes are made only where n is larger than ever before. */
  BOT.pool = (make) => {
    const nodes = [];
    return (n) => {
      while (nodes.length < n) nodes.push(make(nodes.length));
      nodes.forEach((node, k) => BOT.setAttr(node.node || node, "hidden", k >= n ? "" : null));
      return nodes.slice(0, n);
    };
  };

  /** A pool of SVG nodes of one kind in `parent`. */
  BOT.svgPool = (parent, tag, attributes) => BOT.pool(() => {
    const node = svg(tag, attributes);
    parent.append(node);
    return node;
  });

  /** Set several attributes; numbers of pixels need no more than two places. */
  BOT.put = (node, attributes) => {
    for (const [name, value] of Object.entries(attributes)) {
      node.setAttribute(name, typeof value === "number" ? Math.round(value * 100) / 100 : value);
    }
  };

  /** A number with its sign: "+1.93", "−1.93", "0". */
  BOT.signed = (x, digits = 3) => `${x > 0 ? "+" : ""}${BOT.sig(x, digits)}`;

  /** {node, show(data, i)}: which token the position has read and which one it writes. */
  BOT.answering = () => {
    const [at, writes] = [el("span"), el("span")];
    const [read, written] = [el("span", { class: "bot-tok" }), el("span", { class: "bot-tok is-written" })];
    const line = [at, " ", read, " ", writes, " ", written];
    const before = BOT.say(el("span"), "panel.ffn.before");
    const node = el("p", { class: "bot-answering" }, before, line);
    return {
      node,
      show(data, i) {
        before.hidden = i >= 0;
        for (const part of line) if (part instanceof Node) part.hidden = i < 0;
        if (i < 0) return;
        const p = data.n_prompt - 1 + i;
        BOT.setText(at, BOT.t("panel.ffn.at", { n: p }));
        BOT.setText(writes, BOT.t("panel.ffn.writes", { n: i + 1 }));
        BOT.show(read, BOT.tokenText(BOT.inside.token(data, p).hex), true);
        BOT.show(written, BOT.tokenText(BOT.inside.token(data, p + 1).hex), true);
      },
    };
  };

  /** A bar from the middle: {node, set(value, most)}, to the right above 0, to the left below. */
  BOT.balance = () => {
    const bar = el("i");
    const node = el("span", { class: "bot-balance", "aria-hidden": "true" }, bar);
    return {
      node,
      set(value, most) {
        const share = Math.min(1, Math.abs(value) / (most || 1)) || 0;
        bar.style.setProperty("--w", share.toFixed(4));
        BOT.setAttr(node, "data-sign", value < 0 ? "down" : "up");
      },
    };
  };

  /** The largest magnitude among the numbers, 1 where there is none above 0. */
  BOT.largest = (values) => {
    let most = 0;
    for (let k = 0; k < values.length; k++) {
      const size = Math.abs(values[k]);
      if (size > most && size < Infinity) most = size;
    }
    return most || 1;
  };
})();

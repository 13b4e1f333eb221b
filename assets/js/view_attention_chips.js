/* Prompt and answer so far as chips: the weight that each token gets as shade, bar and number. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  /** chips() -> {node, inside(data), draw(now)}; now: {data, found, at, i, aside}. */
  BOT.attention.chips = () => {
    const pool = []; // {node, token, bar, number}: chip p is position p
    const prompt = el("ol", { class: "bot-att-chips" });
    const answer = el("ol", { class: "bot-att-chips" });
    BOT.say(prompt, "panel.attention.prompt", "aria-label");
    BOT.say(answer, "panel.attention.answer", "aria-label");
    const answerBlock = el("div", null, BOT.say(el("p", { class: "bot-label" }), "panel.attention.answer"), answer);
    const says = el("p", { class: "bot-att-say" });
    const [low, high] = [el("span"), el("span")];
    const legend = el("div", { class: "bot-heat-legend", "aria-hidden": "true" }, low, el("i"), high);
    const scale = el("p", { class: "bot-hint bot-att-scale" });
    const sink = el("p", { class: "bot-att-sink" });
    const node = el("div", { class: "bot-att-block" },
      BOT.say(el("h4", { class: "bot-att-title" }), "panel.attention.read.title"), says,
      el("div", { class: "bot-att-streams" },
        el("div", null, BOT.say(el("p", { class: "bot-label" }), "panel.attention.prompt"), prompt), answerBlock),
      el("div", { class: "bot-att-foot" }, scale, legend), sink);

    function chip() {
      const token = el("span", { class: "bot-att-tok" });
      const bar = el("i", { "aria-hidden": "true" });
      const number = el("span", { class: "bot-att-n" });
      return { node: el("li", { class: "bot-att-chip" }, token, el("span", { class: "bot-att-track" }, bar), number), token, bar, number };
    }

    function inside(data) {
      const n = data.ids.data.length;
      while (pool.length < n) pool.push(chip());
      pool.forEach((c, p) => {
        c.node.remove();
        if (p >= n) return;
        const { hex, special } = BOT.inside.token(data, p);
        c.token.replaceChildren(BOT.pieceNode(hex));
        c.special = special;
        BOT.setAttr(c.node, "data-p", p);
        (p < data.n_prompt ? prompt : answer).append(c.node);
      });
    }

    /** The first token for what it is: a place to rest, out of sight, or one among others. */
    function about({ data, found, at }, read) {
      const name = BOT.attention.names(data);
      const p = BOT.prob(read.weights[0]);
      if (read.scores[0] === -Infinity) return BOT.t("panel.attention.sink.outside", { token: name[0], window: BOT.num(found.window) });
      if (at === 0) return BOT.t("panel.attention.sink.alone", { token: name[0] });
      const lengths = BOT.attention.lengths(found.v);
      const others = Float64Array.from(read.seen.filter((k) => k > 0), (k) => lengths[k]).sort();
      const value = BOT.t("panel.attention.sink.value", { norm: BOT.sig(lengths[0]), median: BOT.sig(others[Math.floor((others.length - 1) / 2)]) });
      const first = read.peak === 0
        ? BOT.t("panel.attention.sink.rest", { token: name[0], p })
        : BOT.t("panel.attention.sink.other", { token: name[0], p, key: read.peak, peak: name[read.peak], most: BOT.prob(read.most) });
      return BOT.t("panel.attention.sink", { first, value });
    }

    function draw(now) {
      const { data, found, at, i, aside } = now;
      const read = BOT.attention.reads(found, at); // answering positions are always kept
      const full = BOT.attention.fullShade(read, aside);
      const name = BOT.attention.names(data);
      const written = BOT.state.trace.steps[Math.max(0, i)].tok;
      BOT.setText(says, BOT.t(i < 0 ? "panel.attention.read.before" : "panel.attention.read.say", {
        step: BOT.num(Math.max(0, i) + 1), token: BOT.tokenText(written.hex), position: at, reader: name[at],
        n: BOT.num(read.seen.length), layer: found.layer, head: found.head }));
      for (let p = 0; p < data.ids.data.length; p++) {
        const { node: item, bar, number, special } = pool[p];
        if (item.hidden !== p > at) item.hidden = p > at;
        if (p > at) continue;
        const hidden = read.scores[p] === -Infinity;
        const w = read.weights[p];
        const share = Math.min(1, w / full);
        if (pool[p].share !== share) {
          pool[p].share = share;
          item.style.setProperty("--w", share.toFixed(4));
          bar.style.transform = `scaleX(${share.toFixed(4)})`;
        }
        const flags = [special && "is-special", p === at && "is-asking", hidden && "is-hidden", w > full && "is-beyond"];
        BOT.setAttr(item, "class", ["bot-att-chip", ...flags.filter(Boolean)].join(" "));
        BOT.setText(number, hidden ? "–" : BOT.attention.briefly(w));
      }
      answerBlock.hidden = at < data.n_prompt;
      BOT.setText(low, "0%");
      BOT.setText(high, `${read.most > full ? "≥ " : ""}${BOT.prob(full)}`);
      BOT.setText(scale, BOT.t(aside ? "panel.attention.scale.aside" : "panel.attention.scale.all", { most: BOT.prob(full) }));
      BOT.setText(sink, about(now, read));
    }

    return { node, inside, draw };
  };
})();

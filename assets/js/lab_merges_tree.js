/* The merges of a word as a tree that grows upwards from its symbols; the pieces stand on top. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, svg } = BOT;

  const LEAF = { least: 40, most: 76 }; // px, a leaf with its gap
  const LEVEL = 62; // px
  const BOX = 38; // px, the height of a node
  const GAP = 6;
  const ID = 22; // px above a piece, for its id

  /** About how wide a text is, in px: 9 for a letter, 17 for what is as wide as it is high. */
  const wideOf = (text) => [...text].reduce((sum, c) => sum + (c < "\u1100" ? 9 : 17), 0);

  function fit(text, room) {
    if (wideOf(text) <= room) return text;
    const kept = [...text];
    while (kept.length > 1 && wideOf(kept.join("")) + 9 > room) kept.pop();
    return `${kept.join("")}…`;
  }

  /** mergeTree({go(s)}) -> {node, set(model, ids), step(s)}. */
  BOT.mergeTree = ({ go }) => {
    const picture = svg("svg", { class: "bot-merges-tree", role: "img", on: { click } });
    const node = BOT.say(el("div", { class: "bot-merges-treebox", tabindex: 0, role: "group", "data-bot-keys": "own" }, picture), "panel.merges.tree", "aria-label");
    let model = null;
    let ids = [];
    let parts = []; // by node: {group, line, x}
    let wide = 0;

    function draw() {
      const room = node.clientWidth;
      if (!room || !model) return;
      wide = room;
      const leaf = Math.max(LEAF.least, Math.min(LEAF.most, (room - 2 * GAP) / model.n));
      const levels = Math.max(...model.nodes.map((n) => n.level)) + 1;
      const tall = ID + (levels - 1) * LEVEL + BOX + GAP;
      const full = model.n * leaf + GAP;
      BOT.setAttr(picture, "width", full);
      BOT.setAttr(picture, "height", tall);
      BOT.setAttr(picture, "viewBox", `0 0 ${full} ${tall}`);
      const top = (n) => ID + (levels - 1 - n.level) * LEVEL;
      const lines = svg("g");
      parts = model.nodes.map((n, k) => {
        const x = GAP / 2 + ((n.from + n.to) / 2) * leaf;
        const most = (n.to - n.from) * leaf - GAP;
        const width = Math.min(most, Math.max(leaf - GAP, wideOf(n.text) + 18));
        const y = top(n);
        const rank = n.born ? model.merges[n.born - 1].rank : null;
        const root = model.roots.indexOf(k);
        const group = svg("g", { class: `bot-merges-node${n.inHex ? " is-hex" : ""}${n.unknown ? " is-unknown" : ""}${root >= 0 ? " is-piece" : ""}`, "data-s": n.born },
          svg("title", null, n.text),
          svg("rect", { x: x - width / 2, y, width, height: BOX, rx: 6 }),
          svg("text", { x, y: y + (rank === null ? 24 : 17), class: "bot-merges-name" }, fit(n.text, width - 6)),
          rank === null ? null : svg("text", { x, y: y + 32, class: "bot-merges-rank" }, BOT.num(rank + 1)),
          root < 0 ? null : svg("text", { x, y: y - 7, class: "bot-merges-id" }, String(ids[root])));
        return { group, x, y, line: null };
      });
      model.nodes.forEach((n, k) => {
        if (!n.parts.length) return;
        const from = parts[k];
        const d = n.parts.map((child) => `M${parts[child].x} ${parts[child].y}V${from.y + BOX + (LEVEL - BOX) / 2}H${from.x}V${from.y + BOX}`).join("");
        from.line = svg("path", { class: "bot-merges-line", d });
        lines.append(from.line);
      });
      picture.replaceChildren(lines, ...parts.map((p) => p.group));
      if (at !== null) step(at);
    }

    let at = null;
    function step(s) {
      at = s;
      if (!parts.length) return;
      const next = model.merges[s];
      model.nodes.forEach((n, k) => {
        const { group, line } = parts[k];
        for (const one of [group, line]) {
          if (!one) continue;
          one.classList.toggle("is-there", n.born <= s);
          one.classList.toggle("is-new", s > 0 && n.born === s);
        }
        group.classList.toggle("is-pair", Boolean(next) && (k === next.left || k === next.right));
      });
      const now = s > 0 ? parts[model.merges[s - 1].node] : null;
      if (now && (now.x < node.scrollLeft + 60 || now.x > node.scrollLeft + wide - 60)) node.scrollLeft = now.x - wide / 2;
    }

    function click(event) {
      const hit = event.target.closest("[data-s]");
      if (hit) go(Number(hit.dataset.s));
    }

    new ResizeObserver(() => {
      if (Math.abs(node.clientWidth - wide) > 2) draw();
    }).observe(node);

    return {
      node, step,
      set(next, pieces) {
        model = next;
        ids = pieces;
        parts = [];
        at = null;
        node.scrollLeft = 0;
        draw();
      },
    };
  };
})();

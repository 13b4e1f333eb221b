/* The bytes of an answer as boxes: characters above them, tokens below, the step on screen marked. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const { characters } = BOT.detok;

  /** What a run of decoding alone prints, as nodes: text, or struck-through bytes. */
  const printed = (runs, plain = false) => runs.map((r) => (r.text === undefined ? el("s", { class: "bot-detok-rubbish" }, BOT.hex(r.hex)) : BOT.visible(r.text, plain)));

  /** Steps that make whole characters together: {steps: [{k, piece}], node, parts}; parts[j] are the
   *  nodes of its j-th step: {own: [its bytes and its token], done: [characters whole with it],
   *  held: [bytes that wait after it]}. */
  function chunk(steps) {
    const bytes = BOT.unhex(steps.map((s) => s.piece.hex).join(""));
    const node = el("div", { class: "bot-detok-chunk" });
    const parts = steps.map(() => ({ own: [], done: [], held: [] }));
    const stepOf = []; // of each byte
    const column = []; // of each byte; a token without bytes takes one as well
    const start = [];
    let next = 1;
    steps.forEach((s, j) => {
      const n = s.piece.hex.length / 2;
      start.push(next);
      for (let b = 0; b < n; b++) {
        stepOf.push(j);
        column.push(next + b);
      }
      next += Math.max(1, n);
    });
    const put = (cell, row, from, n) => {
      cell.style.gridArea = `${row} / ${from} / auto / span ${Math.max(1, n)}`;
      node.append(cell);
      return cell;
    };

    const boxes = Array.from(bytes, (byte, b) => {
      const box = put(el("span", { class: `bot-detok-byte bot-tint-${steps[stepOf[b]].k % 6}` }, byte.toString(16).padStart(2, "0")), 2, column[b], 1);
      parts[stepOf[b]].own.push(box);
      return box;
    });
    const dropped = steps[0].piece.dropped;
    for (let b = 0; b < dropped; b++) boxes[b].classList.add("is-dropped");
    for (const c of characters(bytes)) {
      const gone = c.to <= dropped;
      const cell = el("span", { class: "bot-detok-char" }, gone ? "" : c.text === null ? el("span", { class: "bot-detok-none" }, BOT.hex(BOT.detok.hexOf(bytes.subarray(c.from, c.to)))) : BOT.visible(c.text));
      cell.classList.toggle("is-none", !gone && c.text === null && !c.missing);
      cell.classList.toggle("is-waiting", c.missing > 0);
      put(cell, 1, column[c.from], column[c.to - 1] + 1 - column[c.from]);
      const last = stepOf[c.known];
      parts[last].done.push(cell);
      // After each step before the last one, the bytes that came so far wait.
      for (let j = stepOf[c.from]; j < last + (c.missing ? 1 : 0); j++) {
        for (let b = c.from; b < c.to && stepOf[b] <= j; b++) parts[j].held.push(boxes[b]);
      }
    }
    steps.forEach((s, j) => {
      const n = s.piece.hex.length / 2;
      const token = el("span", { class: "bot-detok-token", "data-k": s.k },
        el("span", { class: "bot-detok-alone" }, s.piece.ends ? el("span", { class: "bot-detok-end" }, BOT.tokenText(s.hex)) : n ? printed(s.piece.alone) : "∅"),
        el("span", { class: "bot-detok-k" }, String(s.k + 1)));
      token.classList.toggle("is-rubbish", s.piece.rubbish > 0);
      put(token, 3, start[j], n);
      parts[j].own.push(token);
    });
    node.style.setProperty("--n", next - 1);
    return { steps, node, parts };
  }

  /** detokLane({go(k)}) -> {node, clear(), add({k, hex, piece}), step(i)}: steps are added in order;
   *  those of an unfinished character are drawn again when the next one comes. */
  BOT.detokLane = ({ go }) => {
    const node = BOT.say(el("div", { class: "bot-detok-lane", tabindex: 0, role: "group", on: { click } }), "panel.detok.lane", "aria-label");
    let parts = []; // by step - base
    let base = 0;
    let open = null; // the last chunk, where its bytes do not end with a character
    let at = -1;
    let marked = null;

    function click(event) {
      const token = event.target.closest(".bot-detok-token");
      if (token) go(Number(token.dataset.k));
    }

    function future(part, is) {
      for (const n of part.own) n.classList.toggle("is-future", is);
      for (const n of part.done) n.classList.toggle("is-future", is);
    }

    function mark(part, on) {
      if (!part) return;
      for (const n of part.own) n.classList.toggle("is-now", on);
      for (const n of part.done) n.classList.toggle("is-now", on);
      for (const n of part.held) n.classList.toggle("is-held", on);
    }

    let wanted = null;
    function reveal() {
      const box = wanted && wanted.own[wanted.own.length - 1];
      wanted = null;
      if (box) BOT.reveal(node, box.parentNode); // with the characters over it
    }

    return {
      node,
      clear(first = 0) {
        node.replaceChildren();
        parts = [];
        base = first;
        open = marked = null;
      },
      add(step) {
        const steps = open ? [...open.steps, step] : [step];
        if (open) open.node.remove();
        const made = chunk(steps);
        node.append(made.node);
        parts.splice(steps[0].k - base, parts.length, ...made.parts);
        const found = characters(BOT.unhex(steps.map((s) => s.piece.hex).join("")));
        const last = found[found.length - 1];
        open = last && last.missing && !step.piece.ends ? made : null;
        marked = null;
        made.parts.forEach((part, j) => {
          future(part, steps[j].k > at);
          mark(part, steps[j].k === at);
          if (steps[j].k === at) marked = part;
        });
      },
      step(i) {
        for (let k = Math.max(base, Math.min(at, i) + 1); k <= Math.max(at, i) && k - base < parts.length; k++) future(parts[k - base], k > i);
        mark(marked, false);
        at = i;
        marked = parts[i - base] || null;
        mark(marked, true);
        if (marked && !wanted) requestAnimationFrame(reveal);
        wanted = marked;
      },
    };
  };

  BOT.detok.printed = printed;
})();

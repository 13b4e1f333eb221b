/* Vectors of one length under one another, a bar for each dimension, with one cursor through all. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const TALL = 54; // px, of one line

  /** vectorLines(n, label, read(k)) -> {node, set(line, values, name), draw(), at}: n lines; one
   *  without values is hidden. label: text key. read: what the cursor says of dimension k. */
  BOT.vectorLines = (n, label, read) => {
    const readout = el("output", { class: "bot-readout bot-lines-read", "aria-live": "polite" });
    const lines = Array.from({ length: n }, () => {
      const canvas = el("canvas", { class: "bot-lines-canvas", on: { pointermove: over, pointerdown: over } });
      const name = el("bdi");
      const most = el("span", { class: "bot-muted" });
      const node = el("div", { class: "bot-vline", hidden: true }, el("p", { class: "bot-vline-name" }, name, " ", most), canvas);
      return { node, canvas, name, most, values: null, top: 1, tallest: 0, taller: 0 };
    });
    const stack = el("div", { class: "bot-lines-stack", tabindex: 0, role: "slider", "aria-valuemin": 0, "data-bot-keys": "own", on: { keydown } }, lines.map((line) => line.node));
    BOT.say(stack, label, "aria-label");
    const node = el("div", { class: "bot-lines" }, stack, readout);
    let at = 0;
    let size = 0; // dimensions
    let width = 0;

    function paint(line) {
      if (!line.values || !width) return;
      const { canvas, values, top } = line;
      const ratio = window.devicePixelRatio || 1;
      if (canvas.width !== Math.round(width * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(TALL * ratio);
      }
      const [up, down, ink] = ["--bot-src-user", "--bot-src-generated", "--bot-ink"].map(BOT.ink);
      const g = canvas.getContext("2d");
      g.setTransform(ratio, 0, 0, ratio, 0, 0);
      g.clearRect(0, 0, width, TALL);
      const step = width / values.length;
      const half = TALL / 2;
      const bar = Math.max(step * 0.8, 1 / ratio);
      for (const sign of [1, -1]) {
        g.fillStyle = sign > 0 ? up : down;
        for (let k = 0; k < values.length; k++) {
          const tall = Math.max(-half, Math.min(half, (values[k] / top) * half));
          if (tall * sign > 0) g.fillRect(k * step, tall > 0 ? half - tall : half, bar, Math.abs(tall));
        }
      }
      g.fillStyle = ink;
      for (let k = 0; k < values.length; k++) {
        if (Math.abs(values[k]) > top) g.fillRect(k * step - 1, values[k] > 0 ? 0 : TALL - 2, bar + 2, 2);
      }
      g.fillRect(0, half - 0.5, width, 1);
      g.fillRect((at + 0.5) * step - 0.5, 0, 1, TALL);
    }

    function say() {
      if (!size) return;
      const text = read(at);
      BOT.setText(readout, text);
      BOT.setAttr(stack, "aria-valuenow", at);
      BOT.setAttr(stack, "aria-valuemax", size - 1);
      BOT.setAttr(stack, "aria-valuetext", text);
    }

    function draw() {
      for (const line of lines) {
        if (line.values) {
          BOT.setText(line.most, BOT.t(line.taller ? "panel.lm_head.lines.taller" : "panel.lm_head.lines.most",
            { x: BOT.sig(line.top, 3), n: BOT.num(line.taller), most: BOT.sig(line.tallest, 3) }));
        }
        paint(line);
      }
      say();
    }

    function move(k) {
      const next = Math.max(0, Math.min(size - 1, k));
      if (next === at) return;
      at = next;
      lines.forEach(paint);
      say();
    }

    function over(event) {
      if (size) move(Math.floor((event.offsetX / width) * size));
    }

    function keydown(event) {
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: size - 1, PageDown: at + 32, PageUp: at - 32 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      move(to);
    }

    BOT.onWidth(stack, (next) => {
      width = next;
      lines.forEach(paint);
    });
    BOT.onTheme(() => lines.forEach(paint));

    return {
      node, draw,
      /** Values of a line (null hides it) and its name; `draw` shows what was set. */
      set(k, values, name) {
        const line = lines[k];
        line.values = values;
        line.node.hidden = values === null;
        if (values === null) return;
        size = values.length;
        at = Math.min(at, size - 1);
        const sizes = Float64Array.from(values, Math.abs).sort();
        line.tallest = sizes[size - 1];
        // a few dimensions are hundreds of times larger than the rest, which they would flatten
        const usual = 2.5 * sizes[Math.floor(0.95 * (size - 1))];
        line.top = (usual < line.tallest ? usual : line.tallest) || line.tallest || 1;
        line.taller = sizes.filter((x) => x > line.top).length;
        BOT.setText(line.name, name);
      },
    };
  };
})();

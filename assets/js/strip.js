/* Hundreds or thousands of values as bars from a zero line, on a canvas that wraps them into as many
 * lines as its width asks for. Height tells the value and up or down its sign; colour only repeats
 * it. The readout under it says each value in full, by pointer or by keys.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  const BAR = 4; // least width of a bar with its gap, in pixels
  const LINE = 64; // height of one line of bars
  const GAP = 10;

  /** The strip: a canvas that wraps the values into as many lines as its width asks for. */
  BOT.strip = (readout) => {
    const canvas = el("canvas", { class: "bot-strip", tabindex: 0, role: "slider", "data-bot-keys": "own",
      "aria-valuemin": 0, on: { pointermove: hover, pointerdown: hover, keydown } });
    const scale = el("p", { class: "bot-strip-scale" });
    let row = null;
    let values = new Float32Array(0);
    let per = 1; // values in a line
    let most = 1; // the largest magnitude: half a line's height
    let at = 0;
    let width = 0;

    function place() {
      if (!width || !values.length) return;
      const fit = Math.max(16, Math.floor(width / BAR));
      const lines = Math.ceil(values.length / fit);
      per = Math.ceil(values.length / lines);
      const tall = lines * (LINE + GAP) - GAP;
      const ratio = window.devicePixelRatio || 1;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(tall * ratio);
      canvas.style.height = `${tall}px`;
      paint();
    }

    function paint() {
      if (!width) return;
      const [up, down, ink, line] = ["--bot-src-user", "--bot-src-generated", "--bot-ink", "--bot-line"].map(BOT.ink);
      const ratio = window.devicePixelRatio || 1;
      const g = canvas.getContext("2d");
      g.setTransform(ratio, 0, 0, ratio, 0, 0);
      g.clearRect(0, 0, width, canvas.height / ratio);
      const step = width / per;
      const half = LINE / 2;
      for (let k = 0; k < values.length; k++) {
        const x = (k % per) * step;
        const middle = Math.floor(k / per) * (LINE + GAP) + half;
        const tall = (values[k] / most) * half;
        if (k === at) {
          g.fillStyle = line;
          g.fillRect(x, middle - half, step, LINE);
        }
        g.fillStyle = tall >= 0 ? up : down;
        g.fillRect(x + step * 0.12, tall >= 0 ? middle - tall : middle, step * 0.76, Math.max(0.5, Math.abs(tall)));
      }
      g.fillStyle = ink;
      for (let k = 0; k < values.length; k += per) {
        g.fillRect(0, Math.floor(k / per) * (LINE + GAP) + half - 0.5, Math.min(per, values.length - k) * step, 1);
      }
      g.strokeStyle = ink;
      g.lineWidth = 1.5;
      g.strokeRect((at % per) * step, Math.floor(at / per) * (LINE + GAP) + 0.75, step, LINE - 1.5);
    }

    function say() {
      if (!row) return;
      const text = BOT.t("panel.embedding.value", { index: BOT.num(at), value: BOT.exact(values[at], true) });
      BOT.setText(readout, text);
      BOT.setAttr(canvas, "aria-valuenow", at);
      BOT.setAttr(canvas, "aria-valuetext", text);
      BOT.setAttr(canvas, "aria-label", BOT.t("panel.embedding.strip", { n: BOT.num(values.length) }));
      BOT.setText(scale, BOT.t("panel.embedding.legend", { most: BOT.sig(most, 4) }));
    }

    function move(k) {
      const next = Math.max(0, Math.min(values.length - 1, k));
      if (next === at) return;
      at = next;
      say();
      paint();
    }

    function hover(event) {
      if (!values.length || !width) return;
      const line = Math.floor(event.offsetY / (LINE + GAP));
      move(line * per + Math.min(per - 1, Math.max(0, Math.floor((event.offsetX / width) * per))));
    }

    function keydown(event) {
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + per, ArrowUp: at - per, Home: 0,
        End: values.length - 1, PageDown: at + 64, PageUp: at - 64 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      move(to);
    }

    BOT.onWidth(canvas, (next) => {
      width = next;
      place();
    });
    BOT.onTheme(() => paint());

    return {
      canvas, scale, say, move,
      set(next) {
        if (row === next) return;
        row = next;
        values = next.values;
        most = Math.max(Math.abs(next.min), Math.abs(next.max)) || 1;
        at = 0;
        BOT.setAttr(canvas, "aria-valuemax", values.length - 1);
        place();
        say();
      },
    };
  };
})();

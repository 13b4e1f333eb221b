/* Short vectors as bars from a zero line, one under the other, with one dimension marked in all. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const TALL = 58; // px of a strip

  BOT.qkv = {};

  /** strips({read(k), pair(k)}) -> {add(label) -> {node, set(values, most), hide()}, readout, say()}.
   *
   *  label: () -> what the strip is, for those who hear it. most: the magnitude of half its height.
   *  read: the sentence on dimension k. pair: a dimension that belongs to k and is marked too, or -1. */
  BOT.qkv.strips = ({ read, pair = () => -1 }) => {
    const all = [];
    const readout = el("output", { class: "bot-readout bot-qkv-read" });
    let at = 0;
    let width = 0; // of the whole vector: all strips of a group have the same

    function move(k) {
      const next = Math.max(0, Math.min(width - 1, k));
      if (next === at) return;
      at = next;
      say();
      for (const strip of all) strip.paint();
    }

    function say() {
      if (!width) return;
      at = Math.min(at, width - 1);
      const text = read(at);
      BOT.setText(readout, text);
      for (const strip of all) strip.say(text);
    }

    function add(label) {
      const canvas = el("canvas", { class: "bot-qkv-strip", tabindex: 0, role: "slider", "aria-valuemin": 0, "data-bot-keys": "own",
        on: { pointermove: point, pointerdown: point, keydown } });
      const node = el("div", { class: "bot-qkv-stripwrap" }, canvas);
      let values = null;
      let most = 1;
      let room = 0;

      function place(width) {
        room = width;
        const ratio = window.devicePixelRatio || 1;
        canvas.width = Math.round(room * ratio);
        canvas.height = Math.round(TALL * ratio);
        paint();
      }

      function paint() {
        if (!room || !values) return;
        const [up, down, edge, line, ink] = ["--bot-src-user", "--bot-src-generated", "--bot-edge", "--bot-line", "--bot-ink"].map(BOT.ink);
        const ratio = window.devicePixelRatio || 1;
        const g = canvas.getContext("2d");
        g.setTransform(ratio, 0, 0, ratio, 0, 0);
        g.clearRect(0, 0, room, TALL);
        const wide = room / values.length;
        const half = TALL / 2;
        g.fillStyle = line;
        g.fillRect(at * wide, 0, wide, TALL);
        for (let k = 0; k < values.length; k++) {
          const tall = Math.max(-1, Math.min(1, values[k] / most)) * (half - 1);
          g.fillStyle = tall >= 0 ? up : down;
          g.fillRect(k * wide + wide * 0.12, tall >= 0 ? half - tall : half, wide * 0.76, Math.max(0.5, Math.abs(tall)));
        }
        g.fillStyle = edge;
        g.fillRect(0, half - 0.5, room, 1);
        g.strokeStyle = ink;
        g.lineWidth = 1.5;
        g.strokeRect(at * wide, 0.75, wide, TALL - 1.5);
        const other = pair(at);
        if (other < 0) return;
        g.setLineDash([3, 2]);
        g.strokeRect(other * wide, 0.75, wide, TALL - 1.5);
        g.setLineDash([]);
      }

      function point(event) {
        if (values && room) move(Math.floor((event.offsetX / room) * values.length));
      }

      function keydown(event) {
        const to = { ArrowRight: at + 1, ArrowLeft: at - 1, PageUp: at - 16, PageDown: at + 16, Home: 0, End: width - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        move(to);
      }

      BOT.onWidth(node, place);
      BOT.onTheme(paint);
      all.push({ paint, say(text) {
        BOT.setAttr(canvas, "aria-label", label());
        BOT.setAttr(canvas, "aria-valuenow", at);
        BOT.setAttr(canvas, "aria-valuetext", text);
      } });

      return {
        node,
        /** Other values: bars of the full half height have the magnitude `full`. */
        set(next, full) {
          values = next;
          most = full || 1;
          width = values.length;
          at = Math.min(at, width - 1);
          BOT.setAttr(canvas, "aria-valuemax", width - 1);
          paint();
        },
      };
    }

    return { add, readout, say };
  };

  /** The largest magnitude of some vectors. */
  BOT.qkv.most = (...vectors) => vectors.reduce((most, v) => (v ? v.reduce((m, x) => Math.max(m, Math.abs(x)), most) : most), 0) || 1;
})();

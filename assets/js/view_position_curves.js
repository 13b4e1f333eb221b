/* Curves over whole numbers (positions, shifts), with named axes and a value read out by pointer or
 * keys. Curves differ by dashes and carry their names at their end, not by colour alone.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, svg } = BOT;
  const [LEFT, RIGHT, TOP, FOOT] = [58, 16, 26, 44];

  const short = (x) => (Number.isInteger(x) ? BOT.num(x).replace("-", "−") : String(Number(x.toPrecision(6))).replace("-", "−"));

  /** curves({label, x, y, series: [key], read(k), tall}) -> {node, set({ys: [f64[n], …], mark}), draw()}.
   *  label, x, y, series: text keys; x runs over 0 … n − 1; mark: a place with a line (or none). */
  BOT.curves = ({ label, x: nameX, y: nameY, series, read, tall = 230 }) => {
    const foot = tall - FOOT;
    const frame = svg("path", { class: "bot-curve-frame" });
    const grid = svg("path", { class: "bot-curve-grid" });
    const markLine = svg("path", { class: "bot-curve-mark" });
    const here = svg("path", { class: "bot-curve-here" });
    const lines = series.map((_, k) => svg("path", { class: `bot-curve bot-curve-${k}` }));
    const dots = series.map((_, k) => svg("circle", { class: `bot-curve-dot bot-curve-${k}`, r: 4 }));
    const ticks = [0, 1].map(() => svg("g", { class: "bot-curve-ticks" }));
    const labelX = BOT.say(svg("text", { class: "bot-curve-name", "text-anchor": "end", y: tall - 4 }), nameX);
    const labelY = BOT.say(svg("text", { class: "bot-curve-name", x: 0, y: 12 }), nameY);
    const picture = svg("svg", { class: "bot-curves", height: tall, tabindex: 0, role: "slider", "data-bot-keys": "own", "aria-valuemin": 0,
      on: { pointermove: over, pointerleave: () => move(home), keydown } }, grid, frame, ticks, markLine, here, lines, dots, labelX, labelY);
    BOT.say(picture, label, "aria-label");
    const legend = el("p", { class: "bot-curve-legend", hidden: series.length < 2 }, series.map((key, k) =>
      el("span", null, svg("svg", { width: 30, height: 10, "aria-hidden": "true" }, svg("path", { class: `bot-curve bot-curve-${k}`, d: "M0 5H30" })), " ", BOT.say(el("span"), key))));
    const readout = el("output", { class: "bot-readout", "aria-live": "polite" });
    const node = el("div", { class: "bot-curves-box" }, picture, el("div", { class: "bot-curve-foot" }, readout, legend));

    let shown = null; // {ys, mark}
    let [low, high] = [0, 1];
    let width = 0;
    let at = 0;
    let home = 0; // where the readout stands without a pointer

    const count = () => shown.ys[0].length;
    const px = (k) => LEFT + (k / Math.max(1, count() - 1)) * (width - LEFT - RIGHT);
    const py = (v) => foot - ((v - low) / (high - low)) * (foot - TOP);

    /** Texts of an axis, of which as many as are needed exist and are used again. */
    function axis(group, list) {
      while (group.children.length < list.length) group.append(svg("text"));
      [...group.children].forEach((node, k) => {
        BOT.setAttr(node, "visibility", k < list.length ? null : "hidden");
        if (k >= list.length) return;
        for (const name of ["x", "y", "text-anchor"]) BOT.setAttr(node, name, list[k][name]);
        BOT.setText(node, list[k].text);
      });
    }

    function range() {
      let [a, b] = [0, 0]; // 0 is always in the picture
      for (const values of shown.ys) for (const v of values) [a, b] = [Math.min(a, v), Math.max(b, v)];
      const room = (b - a || 1) * 0.06;
      [low, high] = [a < 0 ? a - room : 0, b > 0 ? b + room : 0.001];
    }

    function draw() {
      if (!shown || !width) return;
      const across = BOT.ticks(0, Math.max(1, count() - 1), Math.max(3, Math.floor(width / 80)));
      const up = BOT.ticks(low, high, 4);
      axis(ticks[0], across.map((t) => ({ x: px(t), y: foot + 18, "text-anchor": "middle", text: short(t) })));
      axis(ticks[1], up.map((t) => ({ x: LEFT - 8, y: py(t) + 4, "text-anchor": "end", text: short(t) })));
      BOT.setAttr(grid, "d", up.map((t) => `M${LEFT} ${py(t).toFixed(1)}H${width - RIGHT}`).join(""));
      BOT.setAttr(frame, "d", `M${LEFT} ${py(0).toFixed(1)}H${width - RIGHT}${across.map((t) => `M${px(t).toFixed(1)} ${foot}v4`).join("")}`);
      BOT.setAttr(labelX, "x", width - RIGHT);
      shown.ys.forEach((values, k) => {
        let d = "";
        for (let s = 0; s < values.length; s++) d += `${s ? "L" : "M"}${px(s).toFixed(1)} ${py(values[s]).toFixed(1)}`;
        BOT.setAttr(lines[k], "d", d);
      });
      const { mark } = shown;
      BOT.setAttr(markLine, "d", mark === null || mark === undefined ? "" : `M${px(mark).toFixed(1)} ${TOP}V${foot}`);
      say();
    }

    function say() {
      const text = read(at);
      BOT.setText(readout, text);
      BOT.setAttr(picture, "aria-valuemax", count() - 1);
      BOT.setAttr(picture, "aria-valuenow", at);
      BOT.setAttr(picture, "aria-valuetext", text);
      if (!width) return;
      BOT.setAttr(here, "d", `M${px(at).toFixed(1)} ${TOP}V${foot}`);
      dots.forEach((dot, k) => {
        BOT.setAttr(dot, "cx", px(at).toFixed(1));
        BOT.setAttr(dot, "cy", py(shown.ys[k][at]).toFixed(1));
      });
    }

    function move(k) {
      if (!shown) return;
      at = Math.max(0, Math.min(count() - 1, k));
      say();
    }

    function over(event) {
      if (shown) move(Math.round(((event.offsetX - LEFT) / (width - LEFT - RIGHT)) * (count() - 1)));
    }

    function keydown(event) {
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: Infinity, PageDown: at + 10, PageUp: at - 10 }[event.key];
      if (to === undefined || !shown) return;
      event.preventDefault();
      move(to);
    }

    BOT.onWidth(node, (next) => {
      width = next;
      BOT.setAttr(picture, "width", width);
      draw();
    });

    return {
      node, draw,
      set(next) {
        shown = next;
        home = next.mark || 0;
        at = Math.min(home, count() - 1);
        range();
        draw();
      },
    };
  };
})();

/* How far two streams are apart after every layer: one curve, its steepest rise named on it. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, svg } = BOT;

  const TALL = 330;
  const LEFT = 58;
  const RIGHT = 14;
  const TOP = 40;
  const FOOT = 44;
  const NICE = [1, 2, 2.5, 5, 10];

  /** Round steps from 0 up to at least `most`. */
  function linearTicks(most) {
    const rough = most / 4;
    const ten = 10 ** Math.floor(Math.log10(rough));
    const step = ten * NICE.find((n) => n * ten >= rough);
    return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, k) => k * step);
  }

  /** gapCurve({read(place), go(place)}) -> {node, set({gaps, parts, log}), at(place), draw()}.
   *  gaps: 1 − cosine after 0 … L layers; parts: the layer of the steepest rise, or null. */
  BOT.gapCurve = ({ read, go }) => {
    const grid = svg("g", { class: "bot-gap-grid" });
    const band = svg("rect", { class: "bot-gap-band" });
    const line = svg("path", { class: "bot-gap-line" });
    const rise = svg("path", { class: "bot-gap-rise" });
    const dots = svg("g", { class: "bot-gap-dots" });
    const cursor = svg("line", { class: "bot-gap-cursor" });
    const names = svg("g", { class: "bot-gap-names" });
    const flag = svg("text", { class: "bot-gap-flag" });
    const titles = [svg("text", { class: "bot-gap-title" }), svg("text", { class: "bot-gap-title", "text-anchor": "end" })];
    const picture = svg("svg", { class: "bot-gap", tabindex: 0, role: "slider", "data-bot-keys": "own", "aria-valuemin": 0,
      on: { pointermove: over, pointerdown: over, keydown } }, grid, band, cursor, line, rise, dots, names, flag, titles);
    const readout = el("output", { class: "bot-readout bot-gap-read", "aria-live": "polite" });
    const node = el("div", { class: "bot-gap-box" }, picture, readout);

    let map = { gaps: [], parts: null, log: false };
    let at = 0;
    let width = 0;
    let y = () => 0;
    const pools = new Map();

    /** The k-th child of a group, made when it is first needed. */
    function child(group, kind, k) {
      const key = group;
      if (!pools.has(key)) pools.set(key, []);
      const pool = pools.get(key);
      if (!pool[k]) {
        pool[k] = svg(kind);
        group.append(pool[k]);
      }
      pool[k].removeAttribute("display");
      return pool[k];
    }
    const rest = (group, from) => (pools.get(group) || []).slice(from).forEach((n) => n.setAttribute("display", "none"));
    const set = (n, values) => Object.entries(values).forEach(([name, value]) => BOT.setAttr(n, name, value));

    const x = (place) => LEFT + (place / Math.max(1, map.gaps.length - 1)) * (width - LEFT - RIGHT);

    function scale() {
      const room = TALL - TOP - FOOT;
      const most = Math.max(...map.gaps);
      if (map.log) {
        const some = map.gaps.filter((g) => g > 0);
        const low = some.length ? Math.floor(Math.log10(Math.min(...some))) : -1;
        const high = Math.max(low + 1, some.length ? Math.ceil(Math.log10(most)) : 0);
        // What is 0 has no place on this axis: it lies on the floor, hollow.
        y = (gap) => TALL - FOOT - (gap > 0 ? ((Math.log10(gap) - low) / (high - low)) * room : 0);
        return Array.from({ length: high - low + 1 }, (_, k) => 10 ** (low + k));
      }
      const ticks = linearTicks(most > 0 ? most : 1);
      const top = ticks[ticks.length - 1];
      y = (gap) => TALL - FOOT - (gap / top) * room;
      return ticks;
    }

    function axes(ticks) {
      ticks.forEach((tick, k) => {
        const level = y(tick);
        set(child(grid, "line", k), { x1: LEFT, x2: width - RIGHT, y1: level, y2: level });
        const text = child(names, "text", k);
        set(text, { x: LEFT - 8, y: level + 4, "text-anchor": "end" });
        BOT.setText(text, BOT.sig(tick, 2));
      });
      rest(grid, ticks.length);
      const n = map.gaps.length;
      const every = Math.max(1, Math.ceil((n * 26) / Math.max(1, width - LEFT - RIGHT)));
      let used = ticks.length;
      for (let place = 0; place < n; place++) {
        if (place > 0 && (place - 1) % every) continue;
        if (place === 0 && every > 1) continue;
        const text = child(names, "text", used++);
        set(text, { x: x(place), y: TALL - FOOT + 18, "text-anchor": "middle" });
        BOT.setText(text, BOT.placeName(place));
      }
      rest(names, used);
    }

    function draw() {
      if (!width || !map.gaps.length) return;
      picture.setAttribute("viewBox", `0 0 ${width} ${TALL}`);
      axes(scale());
      line.setAttribute("d", map.gaps.map((g, k) => `${k ? "L" : "M"}${x(k).toFixed(1)} ${y(g).toFixed(1)}`).join(""));
      map.gaps.forEach((g, k) => {
        const dot = child(dots, "circle", k);
        set(dot, { cx: x(k), cy: y(g), r: 3.5, class: g > 0 ? "" : "is-zero" });
      });
      rest(dots, map.gaps.length);
      const { parts } = map;
      for (const n of [band, rise, flag]) n.style.display = parts === null ? "none" : "";
      if (parts !== null) {
        set(band, { x: x(parts), y: TOP - 12, width: x(parts + 1) - x(parts), height: TALL - FOOT - TOP + 12 });
        rise.setAttribute("d", `M${x(parts)} ${y(map.gaps[parts])}L${x(parts + 1)} ${y(map.gaps[parts + 1])}`);
        const right = x(parts) > width * 0.55;
        set(flag, { x: right ? x(parts + 1) : x(parts), y: TOP - 19, "text-anchor": right ? "end" : "start" });
        BOT.setText(flag, BOT.t("panel.contrast.parts_here", { layer: parts }));
      }
      set(titles[0], { x: 2, y: 12 });
      set(titles[1], { x: width - RIGHT, y: TALL - 4 });
      BOT.setText(titles[0], BOT.t(map.log ? "panel.contrast.axis_log" : "panel.contrast.axis"));
      BOT.setText(titles[1], BOT.t("panel.contrast.axis_layers"));
      BOT.setAttr(picture, "aria-label", BOT.t("panel.contrast.curve"));
      BOT.setAttr(picture, "aria-valuemax", map.gaps.length - 1);
      point();
    }

    function point() {
      if (!map.gaps.length) return;
      set(cursor, { x1: x(at), x2: x(at), y1: TOP - 12, y2: TALL - FOOT });
      (pools.get(dots) || []).forEach((dot, k) => dot.classList.toggle("is-at", k === at));
      const text = read(at);
      BOT.setText(readout, text);
      BOT.setAttr(picture, "aria-valuenow", at);
      BOT.setAttr(picture, "aria-valuetext", text);
    }

    function over(event) {
      if (!width) return;
      const box = picture.getBoundingClientRect();
      const share = ((event.clientX - box.left) / box.width * width - LEFT) / (width - LEFT - RIGHT);
      go(Math.max(0, Math.min(map.gaps.length - 1, Math.round(share * (map.gaps.length - 1)))));
    }

    function keydown(event) {
      const to = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, Home: 0, End: map.gaps.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      go(Math.max(0, Math.min(map.gaps.length - 1, to)));
    }

    BOT.onWidth(node, (next) => {
      if (next < 2 * LEFT) return; // not laid out yet
      width = next;
      draw();
    });

    return {
      node, draw,
      set(next) {
        map = { ...map, ...next };
        at = Math.min(at, map.gaps.length - 1);
        draw();
      },
      at(place) {
        at = place;
        point();
      },
    };
  };

  /** What a place in the stream is called: E before the first layer, else the layer just passed. */
  BOT.placeName = (place) => (place === 0 ? "E" : String(place - 1));
})();

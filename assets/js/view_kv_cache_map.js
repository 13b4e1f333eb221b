/* Norms of what is held, as a heat map; what is not held lies under hatching.
 *
 * The map is painted once for a trace; a step only moves the hatching.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const GUTTER = 44;

  /** A fine hatching on paper, as a fill. */
  function hatch(g, paper, ink) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 7;
    const t = tile.getContext("2d");
    t.fillStyle = paper;
    t.fillRect(0, 0, 7, 7);
    t.strokeStyle = ink;
    t.lineWidth = 1;
    for (const k of [-7, 0, 7]) {
      t.beginPath();
      t.moveTo(k, 7);
      t.lineTo(k + 7, 0);
      t.stroke();
    }
    return g.createPattern(tile, "repeat");
  }

  /** cacheMap({label, tall, least, read(r, c), pick(r, c), rowName(r), colName(c)}) ->
   *  {node, set({rows, cols, value, most}), show({held(r), band, col})}. held(r): [from, to) of row r;
   *  band: [first row, rows] to be framed, or null; col: the newest position, or null. */
  BOT.cacheMap = (def) => {
    let at = [0, 0]; // the cell whose sentence stands under the map
    const heat = BOT.heat({ ...def, gutter: GUTTER, least: def.least || 3,
      read(r, c) {
        at = [r, c];
        return def.read(r, c);
      } });
    const veil = el("canvas", { class: "bot-kv-veil", "aria-hidden": "true" });
    heat.canvas.parentNode.append(veil);
    heat.canvas.parentNode.classList.add("bot-kv-map");
    let map = null;
    let shown = null;
    let fill = null; // {of, pattern}

    function size() {
      const [wide, tall] = heat.size();
      const ratio = window.devicePixelRatio || 1;
      const [w, h] = [Math.round(wide * ratio), Math.round(tall * ratio)];
      if (veil.width !== w || veil.height !== h) {
        Object.assign(veil, { width: w, height: h });
        veil.style.width = `${wide}px`;
        veil.style.height = `${tall}px`;
      }
      return ratio;
    }

    function draw() {
      if (!map || !shown || !heat.size()[0]) return;
      const ratio = size();
      const g = veil.getContext("2d");
      if (!fill) fill = hatch(g, BOT.ink("--bot-surface"), BOT.ink("--bot-edge"));
      g.setTransform(ratio, 0, 0, ratio, 0, 0);
      g.clearRect(0, 0, veil.width, veil.height);
      const cell = (heat.size()[0] - GUTTER) / map.cols;
      g.fillStyle = fill;
      const cover = (row, rows, from, to) => {
        if (to > from) g.fillRect(GUTTER + from * cell, row * def.tall, (to - from) * cell, rows * def.tall);
      };
      for (let r = 0; r < map.rows; ) {
        const [from, to] = shown.held(r);
        let n = 1; // rows below that hold the same
        for (; r + n < map.rows; n++) {
          const next = shown.held(r + n);
          if (next[0] !== from || next[1] !== to) break;
        }
        cover(r, n, 0, Math.min(from, map.cols));
        cover(r, n, to, map.cols);
        r += n;
      }
      g.strokeStyle = BOT.ink("--bot-ink");
      g.lineWidth = 1.5;
      if (shown.band) g.strokeRect(GUTTER + 0.75, shown.band[0] * def.tall + 0.75, cell * map.cols - 1.5, shown.band[1] * def.tall - 1.5);
      if (shown.col !== null) g.strokeRect(GUTTER + shown.col * cell + 0.75, 0.75, Math.max(1, cell - 1.5), map.rows * def.tall - 1.5);
    }

    new ResizeObserver(draw).observe(heat.canvas);
    BOT.onTheme(() => {
      fill = null;
      draw();
    });

    return {
      node: heat.node,
      set(next) {
        map = next;
        heat.set(next);
        draw();
      },
      show(next) {
        shown = next;
        draw();
        if (map) heat.cursor(...at); // what it says of the cell may be another thing now
      },
    };
  };
})();

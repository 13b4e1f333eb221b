/* A heat map: rows × columns of numbers as shades, read out by pointer or keys.
 *
 * The readout under it says every value in full; shade only repeats it. A cell without a value
 * (NaN) stays hatched: a mask can be seen. Cells are painted as pixels of a small picture that is
 * then enlarged, so a map of 512 × 512 is one drawing.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const TEXT = 12; // px, of names beside rows and columns
  const font = () => `${TEXT}px ${BOT.ink("--bot-mono")}`;

  /** heat({label, read(r, c), pick(r, c), rowName(r), colName(c), signed, tall, least, gutter,
   *  legend(low, high)}) -> {node, set({rows, cols, value(r, c), most}), mark({row, col}),
   *  cursor(r, c), redraw(), canvas, size() -> [px, px] of it, 0 before it is laid out}.
   *
   *  label: text key of its name. read: the sentence of a cell. pick: on click, Enter or space.
   *  rowName, colName: short names beside the map, "" for none. signed: values below 0 in another
   *  colour. tall: height of a row in px; least: width that a column has at least (the map then
   *  scrolls). gutter: px for the names of rows. most: the value of the full shade. */
  BOT.heat = (def) => {
    const { read, pick, signed = false, tall = 18, least = 6, gutter = 44 } = def;
    const canvas = el("canvas", { class: "bot-heat-map", tabindex: 0, role: "application", "data-bot-keys": "own",
      on: { pointermove: over, pointerleave: leave, click, keydown, focus: () => move(at.row, at.col) } });
    BOT.say(canvas, def.label, "aria-label");
    const wrap = el("div", { class: "bot-heat-wrap" }, canvas);
    const line = el("output", { class: "bot-readout bot-heat-read", "aria-live": "polite" });
    const [low, high] = [el("span"), el("span")];
    const legend = el("div", { class: `bot-heat-legend${signed ? " is-signed" : ""}`, "aria-hidden": "true" }, low, el("i"), high);
    const node = el("div", { class: "bot-heat" }, wrap, el("div", { class: "bot-heat-foot" }, line, legend));

    let map = { rows: 0, cols: 0, value: () => 0, most: 1 };
    let at = { row: 0, col: 0 };
    let hover = null;
    let marked = {};
    let width = 0;
    let picture = null;
    let foot = 0; // px of the names below the cells
    let size = [0, 0]; // px of the canvas
    let level = true; // whether the names of the columns fit beneath them, side by side

    /** How wide a name is drawn, in px. */
    function wide(text) {
      const g = canvas.getContext("2d");
      g.font = font();
      return g.measureText(text).width;
    }

    const cell = () => Math.max(least, (width - gutter) / map.cols);

    function shades() {
      const [up, down, paper] = [def.up || "--bot-accent", "--bot-src-generated", "--bot-surface"].map(BOT.rgb);
      return (x) => {
        const share = Math.min(1, Math.abs(x) / map.most) ** 0.8; // small ones stay visible
        const ink = x < 0 ? down : up;
        return [0, 1, 2].map((k) => paper[k] + (ink[k] - paper[k]) * share);
      };
    }

    function paintCells() {
      if (!map.rows || !map.cols) return;
      picture = document.createElement("canvas");
      picture.width = map.cols;
      picture.height = map.rows;
      const g = picture.getContext("2d");
      const image = g.createImageData(map.cols, map.rows);
      const shade = shades();
      for (let r = 0, k = 0; r < map.rows; r++) {
        for (let c = 0; c < map.cols; c++, k += 4) {
          const x = map.value(r, c);
          if (Number.isNaN(x)) continue; // the hatching behind shows
          const [red, green, blue] = shade(x);
          image.data[k] = red;
          image.data[k + 1] = green;
          image.data[k + 2] = blue;
          image.data[k + 3] = 255;
        }
      }
      g.putImageData(image, 0, 0);
    }

    const names = (name, n) => (name ? Array.from({ length: n }, (_, k) => name(k)) : []);

    function place() {
      if (!width || !map.rows) return;
      const ratio = window.devicePixelRatio || 1;
      const below = names(def.colName, map.cols).filter(Boolean);
      level = below.every((text) => wide(text) <= cell() - 4);
      foot = below.length ? (level ? TEXT : Math.min(56, Math.max(...below.map(wide)))) + 8 : 0;
      size = [gutter + cell() * map.cols, map.rows * tall + foot];
      canvas.width = Math.round(size[0] * ratio);
      canvas.height = Math.round(size[1] * ratio);
      canvas.style.width = `${size[0]}px`;
      canvas.style.height = `${size[1]}px`;
      canvas.style.setProperty("--gutter", `${gutter}px`);
      canvas.style.setProperty("--foot", `${foot}px`);
      draw();
    }

    function draw() {
      if (!width || !picture) return;
      const ratio = window.devicePixelRatio || 1;
      const g = canvas.getContext("2d");
      const w = cell();
      g.setTransform(ratio, 0, 0, ratio, 0, 0);
      g.clearRect(0, 0, canvas.width, canvas.height);
      g.imageSmoothingEnabled = false;
      g.drawImage(picture, gutter, 0, w * map.cols, tall * map.rows);
      g.fillStyle = BOT.ink("--bot-muted");
      g.font = font();
      g.textBaseline = "middle";
      g.textAlign = "right";
      const every = Math.max(1, Math.ceil((TEXT + 3) / tall));
      names(def.rowName, map.rows).forEach((text, r) => {
        if (text && (r % every === 0 || r === marked.row)) g.fillText(fit(g, text, gutter - 6), gutter - 5, (r + 0.5) * tall);
      });
      bottom(g, w);
      outline(g, marked.row, marked.col, "--bot-ink", 1.5);
      const seen = hover || (document.activeElement === canvas ? at : null);
      if (seen) box(g, seen.row, seen.col, BOT.ink("--bot-bad"), 2);
    }

    function fit(g, text, room) {
      let characters = [...text];
      while (characters.length > 1 && g.measureText(characters.join("")).width > room) characters = characters.slice(0, -1);
      return characters.join("");
    }

    /** Names under the columns: level where there is room, else turned; not all where it is tight. */
    function bottom(g, w) {
      if (!foot) return;
      const every = level ? 1 : Math.max(1, Math.ceil((TEXT + 2) / w));
      const top = map.rows * tall + 5;
      names(def.colName, map.cols).forEach((text, c) => {
        if (!text || c % every) return;
        g.save();
        g.translate(gutter + (c + 0.5) * w, top);
        g.textAlign = level ? "center" : "right";
        if (level) g.fillText(fit(g, text, w - 2), 0, TEXT / 2);
        else {
          g.rotate(-Math.PI / 2);
          g.fillText(fit(g, text, foot - 6), 0, 0);
        }
        g.restore();
      });
    }

    function outline(g, row, col, name, thick) {
      g.strokeStyle = BOT.ink(name);
      g.lineWidth = thick;
      const w = cell();
      const half = thick / 2;
      const [y, h] = row === undefined || row === null ? [0, map.rows * tall] : [row * tall, tall];
      const [x, v] = col === undefined || col === null ? [0, map.cols * w] : [col * w, w];
      if (h === map.rows * tall && v === map.cols * w && map.rows > 1) return;
      g.strokeRect(gutter + x + half, y + half, v - thick, h - thick);
    }

    function box(g, row, col, ink, thick) {
      const w = cell();
      g.strokeStyle = ink;
      g.lineWidth = thick;
      g.strokeRect(gutter + col * w + thick / 2, row * tall + thick / 2, Math.max(1, w - thick), Math.max(1, tall - thick));
    }

    function under(event) {
      const col = Math.floor((event.offsetX - gutter) / cell());
      const row = Math.floor(event.offsetY / tall);
      return col >= 0 && col < map.cols && row >= 0 && row < map.rows ? { row, col } : null;
    }

    function say(where) {
      BOT.setText(line, map.rows ? read(where.row, where.col) : "");
    }

    function over(event) {
      const where = under(event);
      if (!where || (hover && hover.row === where.row && hover.col === where.col)) return;
      hover = where;
      say(where);
      draw();
    }

    function leave() {
      hover = null;
      say(at);
      draw();
    }

    function click(event) {
      const where = under(event);
      if (!where) return;
      at = where;
      if (pick) pick(where.row, where.col);
    }

    function move(row, col) {
      at = { row: Math.max(0, Math.min(map.rows - 1, row)), col: Math.max(0, Math.min(map.cols - 1, col)) };
      say(at);
      draw();
    }

    function keydown(event) {
      const { row, col } = at;
      const to = { ArrowRight: [row, col + 1], ArrowLeft: [row, col - 1], ArrowDown: [row + 1, col], ArrowUp: [row - 1, col],
        Home: [row, 0], End: [row, map.cols - 1], PageDown: [map.rows - 1, col], PageUp: [0, col] }[event.key];
      if (to) move(...to);
      else if (pick && (event.key === "Enter" || event.key === " ")) pick(row, col);
      else return;
      event.preventDefault();
    }

    function scale() {
      const names = def.legend ? def.legend(map.most) : [BOT.sig(signed ? -map.most : 0), BOT.sig(map.most)];
      BOT.setText(low, names[0]);
      BOT.setText(high, names[1]);
    }

    const redraw = () => {
      paintCells();
      place();
      if (map.rows) say(at);
      scale();
    };
    BOT.onWidth(wrap, (next) => {
      width = next;
      place();
    });
    BOT.onTheme(redraw);

    return {
      node, canvas, redraw, size: () => size,
      /** Other values. value(r, c) is NaN where there is none. */
      set(next) {
        map = { most: 1, ...next };
        at = { row: Math.min(at.row, map.rows - 1), col: Math.min(at.col, map.cols - 1) };
        hover = null;
        redraw();
      },
      /** Frame a row, a column, or the cell where both meet. */
      mark(next) {
        if (marked.row === next.row && marked.col === next.col) return;
        marked = next;
        draw();
      },
      cursor: move,
    };
  };
})();

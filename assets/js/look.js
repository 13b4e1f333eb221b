/* What painting needs to know of the page without asking it in mid-drawing: its colours, read once
 * and again when it turns light or dark, and how wide things are.
 */
"use strict";
(() => {
  const BOT = window.BOT;

  const inks = new Map();
  const shades = new Map();
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

  /** Call fn when the page turns light or dark. */
  BOT.onTheme = (fn) => BOT.on("theme", fn);
  const turned = () => {
    inks.clear();
    shades.clear();
    BOT.emit("theme");
  };
  const watch = (node) => new MutationObserver(turned).observe(node, { attributes: true, attributeFilter: ["class"] });
  watch(document.documentElement);
  addEventListener("DOMContentLoaded", () => watch(document.body));

  /** The value of a variable of the style sheet ("--bot-ink"). */
  BOT.ink = (name) => {
    if (!inks.has(name)) {
      const root = BOT.state.root || document.body;
      inks.set(name, getComputedStyle(root).getPropertyValue(name).trim());
    }
    return inks.get(name);
  };

  /** The same as [r, g, b], by painting it. */
  BOT.rgb = (name) => {
    if (!shades.has(name)) {
      probe.clearRect(0, 0, 1, 1);
      probe.fillStyle = BOT.ink(name);
      probe.fillRect(0, 0, 1, 1);
      shades.set(name, probe.getImageData(0, 0, 1, 1).data);
    }
    return shades.get(name);
  };

  /** onWidth(node, fn(px)): fn is told the width inside a node once it is laid out, and again when it
   *  is another. Asked for in the middle of drawing, it would make the browser lay the page out. */
  BOT.onWidth = (node, fn) => {
    let width = 0;
    new ResizeObserver(([{ contentRect }]) => {
      const next = Math.floor(contentRect.width);
      if (!next || next === width) return;
      width = next;
      fn(width);
    }).observe(node);
  };

  /** Scroll `box`, never the page, until `node` in it is seen whole. */
  BOT.reveal = (box, node) => {
    const [outer, inner] = [box, node].map((n) => n.getBoundingClientRect());
    if (inner.top >= outer.top && inner.bottom <= outer.bottom) return;
    box.scrollTop += (inner.top + inner.bottom - outer.top - outer.bottom) / 2;
  };
})();

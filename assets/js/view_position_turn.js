/* One pair of a query or key in its plane, before and after it is turned, and a row of pairs as the
 * hands of clocks.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, svg } = BOT;
  const SIZE = 300;
  const MID = SIZE / 2;
  const REACH = 88; // px, of the longer of the two vectors
  const CLOCKS = 8;
  const FACE = 30;

  const degrees = (angle) => (((angle / Math.PI) * 180) % 360 + 360) % 360;
  BOT.degrees = degrees;

  /** An arc of `angle` (up to a full turn) from direction `from`, counter-clockwise where positive. */
  function arc(x, y, radius, from, angle) {
    const point = (a) => `${(x + radius * Math.cos(a)).toFixed(2)} ${(y - radius * Math.sin(a)).toFixed(2)}`;
    if (Math.abs(angle) < 1e-6) return "";
    // two halves: one arc of more than half a turn would need a flag, one of a whole turn is nothing
    return `M${point(from)}A${radius} ${radius} 0 0 ${angle > 0 ? 0 : 1} ${point(from + angle / 2)}`
      + `A${radius} ${radius} 0 0 ${angle > 0 ? 0 : 1} ${point(from + angle)}`;
  }

  /** pairPlane() -> {node, set({before: [a, b], after: [a, b], own: [a, b], angle, dims: [i, j]}), lang()}. own: the
   *  model's own turned pair; angle: in rad, of which the picture shows what is over full turns. */
  BOT.pairPlane = () => {
    const line = (name) => svg("path", { class: `bot-plane-${name}` });
    const [circle, sweep, sweepHead] = ["circle", "arc", "arc-head"].map(line);
    const vectors = ["before", "after"].map((name) => ({
      name, shaft: line(`shaft bot-plane-${name}`), head: line(`head bot-plane-${name}`),
      label: BOT.say(svg("text", { class: `bot-plane-label bot-plane-${name}` }), `panel.position.${name}`),
    }));
    const own = svg("circle", { class: "bot-plane-own", r: 7 });
    const names = [0, 1].map(() => svg("text", { class: "bot-plane-axis-name" }));
    const rest = svg("text", { class: "bot-plane-rest", "text-anchor": "middle" });
    const node = svg("svg", { class: "bot-plane", viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img" },
      svg("path", { class: "bot-plane-axes", d: `M8 ${MID}H${SIZE - 8}M${MID} 8V${SIZE - 8}` }), names,
      circle, sweep, sweepHead, vectors.map((v) => [v.shaft, v.head]), own, vectors.map((v) => v.label), rest);

    function vector({ shaft, head, label }, [a, b], scale, other) {
      const [x, y] = [MID + a * scale, MID - b * scale];
      const way = Math.atan2(b, a);
      const barb = (turn) => `${(x - 11 * Math.cos(way + turn)).toFixed(1)} ${(y + 11 * Math.sin(way + turn)).toFixed(1)}`;
      BOT.setAttr(shaft, "d", `M${MID} ${MID}L${x.toFixed(1)} ${y.toFixed(1)}`);
      BOT.setAttr(head, "d", `M${x.toFixed(1)} ${y.toFixed(1)}L${barb(0.42)}L${barb(-0.42)}Z`);
      // names stand outside of the circle, and step aside where both arrows point the same way
      const near = Math.abs(Math.sin((way - other) / 2)) < 0.12;
      const up = near ? -16 : 0;
      BOT.setAttr(label, "x", (MID + (REACH + 14) * Math.cos(way)).toFixed(1));
      BOT.setAttr(label, "y", (MID - (REACH + 14) * Math.sin(way) + 5 + up).toFixed(1));
      BOT.setAttr(label, "text-anchor", Math.cos(way) > 0.3 ? "start" : Math.cos(way) < -0.3 ? "end" : "middle");
    }

    let shown = null;
    function draw() {
      const { before, after, own: theirs, angle, dims } = shown;
      const most = Math.max(Math.hypot(...before), Math.hypot(...after)) || 1;
      const scale = REACH / most;
      const from = Math.atan2(before[1], before[0]);
      const to = Math.atan2(after[1], after[0]);
      vector(vectors[0], before, scale, NaN);
      vector(vectors[1], after, scale, from);
      BOT.setAttr(circle, "d", arc(MID, MID, Math.hypot(...before) * scale, 0, 2 * Math.PI));
      const over = (degrees(angle) / 180) * Math.PI;
      BOT.setAttr(sweep, "d", arc(MID, MID, 40, from, over));
      const [tx, ty] = [MID + 40 * Math.cos(from + over), MID - 40 * Math.sin(from + over)];
      const way = from + over + Math.PI / 2;
      const barb = (turn) => `${(tx - 9 * Math.cos(way + turn)).toFixed(1)} ${(ty + 9 * Math.sin(way + turn)).toFixed(1)}`;
      BOT.setAttr(sweepHead, "d", over > 0.25 ? `M${tx.toFixed(1)} ${ty.toFixed(1)}L${barb(0.5)}L${barb(-0.5)}Z` : "");
      const middle = from + over / 2;
      BOT.setAttr(rest, "x", (MID + 66 * Math.cos(middle)).toFixed(1));
      BOT.setAttr(rest, "y", (MID - 66 * Math.sin(middle) + 5).toFixed(1));
      BOT.setText(rest, `${degrees(angle).toFixed(0)}°`);
      BOT.setAttr(own, "cx", (MID + theirs[0] * scale).toFixed(1));
      BOT.setAttr(own, "cy", (MID - theirs[1] * scale).toFixed(1));
      const [right, top] = dims.map((d) => BOT.t("panel.position.axis", { d: BOT.num(d) }));
      const place = (node, x, y, anchor, text) => {
        for (const [name, value] of [["x", x], ["y", y], ["text-anchor", anchor]]) BOT.setAttr(node, name, value);
        BOT.setText(node, text);
      };
      place(names[0], SIZE - 4, MID + 18, "end", right);
      place(names[1], MID + 8, 18, "start", top);
      BOT.setAttr(node, "aria-label", `${BOT.t("panel.position.before")} (${before.map((x) => BOT.sig(x, 4)).join(", ")}), ${BOT.t("panel.position.after")} (${after.map((x) => BOT.sig(x, 4)).join(", ")}), ${degrees(angle).toFixed(0)}°`);
    }
    return {
      node,
      set(next) {
        shown = next;
        draw();
      },
      lang() {
        if (shown) draw();
      },
    };
  };

  /** The number of positions of a full turn, for reading. */
  BOT.period = (theta) => {
    const n = (2 * Math.PI) / Math.abs(theta);
    return n < 100 || n >= 1e6 ? BOT.sig(n, 2) : BOT.num(Number(n.toPrecision(3)));
  };

  /** pairClocks(choose(i)) -> {node, set(theta, p, pair)}: some pairs from the fastest to the slowest,
   *  the chosen one among them. */
  BOT.pairClocks = (choose) => {
    const clocks = Array.from({ length: CLOCKS }, () => {
      const sweep = svg("path", { class: "bot-clock-arc" });
      const hand = svg("path", { class: "bot-clock-hand" });
      const face = svg("svg", { viewBox: "0 0 72 72", "aria-hidden": "true" },
        svg("circle", { class: "bot-clock-face", cx: 36, cy: 36, r: FACE }),
        svg("path", { class: "bot-clock-zero", d: `M${36 + FACE - 6} 36h10` }), sweep, hand);
      const name = el("b");
      const period = el("span");
      const clock = { pair: 0, sweep, hand, name, period };
      clock.node = el("button", { type: "button", class: "bot-clock", on: { click: () => choose(clock.pair) } }, face, name, period);
      return clock;
    });
    const node = el("div", { class: "bot-clocks" }, clocks.map((clock) => clock.node));

    /** The pairs on show: spread evenly, the nearest one in favour of the chosen. */
    function places(count, pair) {
      const n = Math.min(CLOCKS, count);
      const spread = Array.from({ length: n }, (_, k) => Math.round((k * (count - 1)) / Math.max(1, n - 1)));
      const nearest = BOT.argmax(spread.map((i) => -Math.abs(i - pair)));
      spread[nearest] = pair;
      return spread;
    }

    return {
      node,
      set(theta, p, pair) {
        const list = places(theta.length, pair);
        clocks.forEach((clock, k) => {
          clock.node.hidden = k >= list.length;
          if (clock.node.hidden) return;
          const i = (clock.pair = list[k]);
          const angle = (degrees(p * theta[i]) / 180) * Math.PI;
          BOT.setAttr(clock.hand, "d", `M36 36L${(36 + (FACE - 4) * Math.cos(angle)).toFixed(1)} ${(36 - (FACE - 4) * Math.sin(angle)).toFixed(1)}`);
          BOT.setAttr(clock.sweep, "d", `${arc(36, 36, FACE - 14, 0, angle)}`);
          BOT.setText(clock.name, BOT.t("panel.position.clock", { i }));
          BOT.setText(clock.period, BOT.t("panel.position.period", { n: BOT.period(theta[i]) }));
          BOT.setAttr(clock.node, "aria-pressed", i === pair);
          BOT.setAttr(clock.node, "aria-label", BOT.t("panel.position.clock_says", { i, n: BOT.period(theta[i]), p, rest: degrees(p * theta[i]).toFixed(0) }));
        });
      },
    };
  };
})();

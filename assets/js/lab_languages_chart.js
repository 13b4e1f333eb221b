/* Bars of many languages, one below the other, a group for each with a bar for each vocabulary. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, svg } = BOT;
  const TOP = 30; // px, numbers of the axis
  const TAIL = 62; // px, the number behind the longest bar
  const GROUP_GAP = 9;

  BOT.letters = "ABCDEFGH";

  /** Round numbers from 0 to `most`, at most six. */
  function ticks(most) {
    const rough = most / 5;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((k) => k * power >= rough) * power;
    return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, k) => k * step);
  }

  /** languagesChart({pick(k)}) -> {node, set({rows, vocabularies, format, line}), mark(k)}. rows: [{name,
   *  says, values}], values by vocabulary (null: none); format(x) -> text; line: {at} or null. */
  BOT.languagesChart = ({ pick }) => {
    const drawing = svg("svg", { class: "bot-lang-svg", role: "listbox", tabindex: 0, "data-bot-keys": "own", on: { click, keydown } });
    BOT.say(drawing, "panel.languages.chart", "aria-label");
    const node = el("div", { class: "bot-lang-chart" }, drawing);
    let data = null;
    let groups = [];
    let at = 0;
    let width = 0;

    function draw() {
      if (!data || !width) return;
      const n = data.vocabularies;
      const bar = n <= 1 ? 18 : n <= 2 ? 13 : 12;
      const tall = n * bar + GROUP_GAP;
      const font = parseFloat(getComputedStyle(drawing).fontSize);
      const names = Math.min(0.34 * width, Math.max(...data.rows.map((row) => [...row.name].length)) * font * (BOT.state.lang === "zh" ? 1.02 : 0.58) + 14);
      const left = names + (n > 1 ? 16 : 4);
      const most = Math.max(...data.rows.flatMap((row) => row.values.map((v) => v ?? 0)), data.line ? data.line.at : 0) || 1;
      const x = (v) => left + (v / most) * (width - left - TAIL);
      const high = TOP + data.rows.length * tall;
      BOT.setAttr(drawing, "width", width);
      BOT.setAttr(drawing, "height", high);
      const grid = ticks(most).map((v) => [
        svg("line", { class: "bot-lang-grid", x1: x(v), x2: x(v), y1: TOP - 6, y2: high }),
        svg("text", { class: "bot-lang-tick", x: x(v), y: TOP - 12, "text-anchor": "middle" }, BOT.sig(v).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, ""))]);
      groups = data.rows.map((row, k) => {
        const y = TOP + k * tall;
        const bars = row.values.map((v, c) => {
          const top = y + GROUP_GAP / 2 + c * bar;
          const middle = top + bar / 2;
          return [
            n > 1 ? svg("text", { class: "bot-lang-letter", x: left - 6, y: middle, "text-anchor": "end" }, BOT.letters[c]) : null,
            v === null ? null : svg("rect", { class: `bot-lang-bar of-${c}`, x: left, y: top + 1, width: Math.max(1, x(v) - left), height: bar - 2, rx: 2 }),
            svg("text", { class: "bot-lang-value", x: v === null ? left + 4 : x(v) + 5, y: middle }, v === null ? "–" : data.format(v))];
        });
        return svg("g", { class: "bot-lang-row", role: "option", id: `bot-lang-${k}`, "data-k": k, "aria-selected": k === at, "aria-label": row.says },
          svg("rect", { class: "bot-lang-back", x: 0, y, width, height: tall, rx: 4 }),
          svg("text", { class: "bot-lang-name", x: names, y: y + tall / 2, "text-anchor": "end" }, row.name), bars);
      });
      const line = data.line ? [svg("line", { class: "bot-lang-line", x1: x(data.line.at), x2: x(data.line.at), y1: TOP - 6, y2: high })] : [];
      drawing.replaceChildren(...grid.flat(), ...line, ...groups);
      select(at);
    }

    function select(k) {
      at = k;
      groups.forEach((group, j) => BOT.setAttr(group, "aria-selected", j === k));
      BOT.setAttr(drawing, "aria-activedescendant", groups[k] ? groups[k].id : null);
    }

    function click(event) {
      const group = event.target.closest(".bot-lang-row");
      if (group) pick(Number(group.dataset.k));
    }

    function keydown(event) {
      const last = groups.length - 1;
      const to = { ArrowDown: at + 1, ArrowUp: at - 1, ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      pick(Math.max(0, Math.min(last, to)));
    }

    BOT.onWidth(node, (next) => {
      width = next;
      draw();
    });

    return {
      node,
      set(next) {
        data = next;
        draw();
      },
      mark: select,
    };
  };
})();

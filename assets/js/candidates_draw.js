/* The draw: the last stage's probabilities laid end to end from 0 to 1, and u on them. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  const GLYPH = 8; // pixels of one column of text
  const THIN = 3; // a part of fewer pixels has no edge of its own
  const percent = (x) => `${100 * x}%`;

  /** The bar in `body`: {draw(trace, i, told, width)}; `told` is the figure's `draw`. */
  BOT.candidatesDraw = (body) => {
    const edges = BOT.svg("path", { "vector-effect": "non-scaling-stroke" });
    const svg = BOT.svg("svg", { viewBox: "0 0 1 1", preserveAspectRatio: "none", "aria-hidden": "true" }, edges);
    const chosen = el("div", { class: "bot-draw-chosen" });
    const rest = el("div", { class: "bot-draw-rest" });
    const names = []; // {node, name}
    const layer = el("div", { class: "bot-draw-names" });
    const said = el("span");
    const mark = el("div", { class: "bot-draw-u" }, said);
    const track = el("div", { class: "bot-draw-track" }, chosen, rest, svg, layer, mark);
    const scale = el("div", { class: "bot-draw-scale", "aria-hidden": "true" },
      [0, 0.25, 0.5, 0.75, 1].map((x) => el("span", { style: { left: percent(x) } }, String(x))));
    const area = el("div", { class: "bot-draw-area", role: "img" }, track, scale);
    const bar = el("div", { class: "bot-draw", hidden: true, dir: "ltr" },
      BOT.say(el("span", { class: "bot-draw-label", "aria-hidden": "true" }), "panel.candidates.draw_row"), area);
    body.append(bar);
    let seen = null;
    let text = "";

    function place(node, part) {
      node.hidden = !part;
      if (!part) return;
      node.style.left = percent(part[0]);
      node.style.width = percent(part[1]);
    }

    function draw(trace, i, told, width) {
      seen = told && { trace, i, told };
      bar.hidden = !told;
      if (!told) return;
      const k = BOT.chosenAt(trace.steps[i]);
      const own = told.parts.find((part) => part[0] === k);
      place(chosen, own && own.slice(1));
      place(rest, told.rest);
      BOT.setAttr(edges, "d", told.parts.filter(([, , p]) => p * width >= THIN).map(([, from, p]) => `M${from + p} 0v1`).join("") || null);
      const wide = told.parts.filter(([, , p]) => Math.floor((p * width) / GLYPH) > 3);
      wide.forEach(([at, from, p], n) => {
        if (!names[n]) {
          names[n] = { name: BOT.candidateNodes.make() };
          names[n].node = el("span", null, el("span", null, names[n].name));
          layer.append(names[n].node);
        }
        place(names[n].node, [from, p]);
        names[n].node.classList.toggle("is-chosen", at === k);
        BOT.candidateNodes.put(names[n].name, BOT.candidateName(trace, i, at));
      });
      names.forEach(({ node }, n) => { if (n >= wide.length) node.hidden = true; });
      mark.style.left = percent(told.u);
      mark.classList.toggle("is-end", told.u >= 0.75);
      BOT.setText(said, `u = ${BOT.unit(told.u)}`);
      text = `${BOT.t("panel.candidates.draw_row")}: ${said.textContent}`;
      BOT.setAttr(area, "aria-label", text);
      again();
    }

    const again = BOT.hint(track, (x) => {
      if (!seen) return null;
      const { trace, i, told } = seen;
      const at = x / track.clientWidth;
      const part = told.parts.find(([, from, p]) => at >= from && at < from + p);
      if (part) {
        const [k, from, p] = part;
        return { name: BOT.candidateName(trace, i, k, 200), value: `id ${trace.steps[i].ids[k]} · ${BOT.unit(from)} … ${BOT.unit(from + p)}` };
      }
      if (!told.rest) return null;
      return { name: { bytes: BOT.t("panel.candidates.draw_rest"), text: "" }, value: BOT.prob(told.rest[1]) };
    });

    return { draw };
  };
})();

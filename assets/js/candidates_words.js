/* What is written around the chart's bars: the tokens at the left, a column of numbers beside each
 * column of bars, heads, scales, the line where a cut falls, and the hint under the pointer.
 *
 * Plain nodes over the chart, made once and used again; a column's numbers are one text with a
 * line for each row. The whole is one picture for a screen reader: the table says the same.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const TIGHT = 150; // a head over bars of fewer pixels begins over the numbers
  const say = (key, values) => BOT.t(`panel.candidates.${key}`, values);

  /** A candidate's name: its text; else its bytes, and the character that they complete after the
   *  bytes held before, or "+k", the bytes still needed. {bytes, text}: words, and marked text. */
  BOT.candidateName = (trace, i, k, most = 64) => {
    const step = trace.steps[i];
    const hex = BOT.hexes(step)[k];
    const short = (text) => (text.length > most ? `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…` : text);
    if (!hex) return { bytes: say("no_token"), text: "" };
    const alone = BOT.piece(hex);
    if (alone.text !== null) return { bytes: "", text: short(alone.text) };
    const held = i > 0 && !step.special.includes(k) ? trace.steps[i - 1].pending : "";
    const together = BOT.piece(hex, held);
    const bytes = `⟨${short(BOT.hex(hex))}⟩`;
    if (together.text !== null) return { bytes: `${bytes} → `, text: short(together.text) };
    const more = together.missing || alone.missing;
    return { bytes: more ? `${bytes} +${more}` : bytes, text: "" };
  };

  /** Two nodes for such a name, as `put` fills them. */
  const named = () => [el("span"), el("span")];
  const put = ([bytes, text], name) => {
    BOT.setText(bytes, name.bytes);
    BOT.show(text, name.text);
  };
  BOT.candidateNodes = { make: named, put };

  /** A hint that follows the pointer over `node`. find(x, y) -> {name, value} or null, of pixels
   *  in `node`. Returns a function that looks again, for when what lies there has changed. */
  BOT.hint = (node, find) => {
    const name = named();
    const value = el("div");
    const tip = el("div", { class: "bot-tip", "aria-hidden": "true", hidden: true }, el("div", null, name), value);
    node.append(tip);
    let at = null;
    function show() {
      const found = at && find(at.x, at.y);
      tip.hidden = !found;
      if (!found) return;
      put(name, found.name);
      BOT.setText(value, found.value);
      const end = at.x > at.width / 2;
      tip.style.left = end ? "auto" : `${at.x + 14}px`;
      tip.style.right = end ? `${at.width - at.x + 14}px` : "auto";
      const low = at.y > at.height / 2;
      tip.style.top = low ? "auto" : `${at.y + 14}px`;
      tip.style.bottom = low ? `${at.height - at.y + 14}px` : "auto";
    }
    function moved(event) {
      const box = node.getBoundingClientRect();
      at = { x: event.clientX - box.left, y: event.clientY - box.top, width: box.width, height: box.height };
      show();
    }
    node.addEventListener("pointermove", moved);
    node.addEventListener("pointerdown", moved);
    // A finger has gone when it is lifted: its hint stays until the next one.
    node.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "touch") return;
      at = null;
      show();
    });
    return show;
  };

  /** The words over `wrap`: {draw(trace, i, figure)}. */
  BOT.candidatesWords = (wrap) => {
    const { sizes } = window.BOT_FIGURES.candidates;
    const lines = []; // {node, star, name, id, where}
    const columns = []; // {node, title, sub, numbers, rule, ticks}
    const layer = el("div", { class: "bot-words", style: {
      "--row": `${sizes.row}px`, "--head": `${sizes.head}px`, "--foot": `${sizes.foot}px`, "--number": `${sizes.number}px`, "--between": `${sizes.between}px`,
    } });
    wrap.append(layer);
    let seen = null;

    function line(y) {
      if (!lines[y]) {
        const made = { star: el("span", { class: "bot-words-star" }), name: named(), id: el("small") };
        made.node = el("div", { class: "bot-words-row", style: { "--y": y } }, made.star, el("span", { class: "bot-words-name" }, made.name), made.id);
        lines[y] = made;
        layer.append(made.node);
      }
      return lines[y];
    }

    function column(c) {
      if (!columns[c]) {
        const made = { title: el("b"), sub: el("span"), numbers: el("div", { class: "bot-words-numbers" }), rule: el("div", { class: "bot-words-rule" }),
          ticks: [0, 1, 2].map(() => el("span", { class: "bot-words-tick" })), grid: el("div", { class: "bot-words-grid" }) };
        made.node = el("div", { class: "bot-words-column" }, made.grid, el("div", { class: "bot-words-head" }, made.title, made.sub), made.numbers, made.rule, made.ticks);
        columns[c] = made;
        layer.append(made.node);
      }
      return columns[c];
    }

    function draw(trace, i, { layout, words }) {
      seen = { trace, i, words };
      const step = trace.steps[i];
      const chosen = BOT.chosenAt(step);
      const lead = BOT.leading(step);
      const { shown, rest } = words;
      layer.style.setProperty("--left", `${layout.margin.l}px`);
      shown.forEach((k, y) => {
        const { node, star, name, id } = line(y);
        const rank = k < lead ? k + 1 : k === chosen ? step.rank : null;
        put(name, BOT.candidateName(trace, i, k));
        BOT.setText(id, `${step.ids[k]}${rank !== null && rank !== y + 1 ? ` #${BOT.num(rank)}` : ""}`);
        BOT.setText(star, k === chosen ? "★" : "");
        node.classList.toggle("is-chosen", k === chosen);
      });
      rest.forEach((text, y) => {
        const { node, star, name, id } = line(shown.length + y);
        put(name, { bytes: text, text: "" });
        BOT.setText(id, "");
        BOT.setText(star, "");
        node.classList.remove("is-chosen");
      });
      lines.forEach(({ node }, y) => { node.hidden = y >= shown.length + rest.length; });

      words.columns.forEach((told, c) => {
        const { node, title, sub, numbers, rule, ticks, grid } = column(c);
        node.style.left = `${told.left}px`;
        node.style.width = `${told.width}px`;
        node.classList.toggle("is-tight", told.width < TIGHT);
        BOT.setText(title, told.title);
        BOT.setText(sub, told.sub);
        BOT.setText(numbers, told.numbers.join("\n"));
        grid.hidden = told.at === "score";
        rule.hidden = told.cut === null;
        if (!rule.hidden) rule.style.setProperty("--y", told.cut + 1);
        ticks.forEach((tick, t) => {
          tick.hidden = t >= told.ticks.length;
          if (tick.hidden) return;
          tick.style.left = `${told.ticks[t][0] - told.left}px`;
          BOT.setText(tick, told.ticks[t][1]);
        });
      });
      columns.forEach(({ node }, c) => { node.hidden = c >= words.columns.length; });
      again();
    }

    const again = BOT.hint(wrap, (x, y) => {
      if (!seen) return null;
      const { trace, i, words } = seen;
      const { shown } = words;
      const row = Math.floor((y - sizes.head) / sizes.row);
      const told = words.columns.find(({ left, width }) => x >= left && x < left + width);
      if (row < 0 || row >= shown.length + words.rest.length || (x >= sizes.left && !told)) return null;
      const number = told && told.numbers[row];
      if (told && !number) return null;
      const listed = row < shown.length;
      const step = trace.steps[i];
      const others = () => (row === shown.length && words.rest.length > 1 ? say("more_hover", { n: step.ids.length - shown.length })
        : say("tail_hover", { n: BOT.num(trace.model.vocab_rows - step.ids.length) }));
      const name = listed ? BOT.candidateName(trace, i, shown[row], 200) : { bytes: others(), text: "" };
      const id = listed ? `id ${step.ids[shown[row]]}` : "";
      const value = told ? `${told.title}: ${number === "✕" ? say("cut_here") : number.replace("» ", "")}` : "";
      return { name, value: [id, value].filter(Boolean).join(" · ") };
    });

    return { draw };
  };
})();

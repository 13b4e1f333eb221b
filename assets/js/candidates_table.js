/* The candidates of a step as a table: what each would show, its numbers through the stages, and
 * what became of it. Rows are made once and used again, so a step changes text and nothing else.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  const FIRST = [4, 9, 4.8, 8.5, 8, 4.6]; // rank, token, id, bytes, would show, logit; in rem
  const STAGE = 5.4;
  const SUM = 7;
  const FATE = 9.2;

  /** A table in `body`: {draw(trace, i, limit)}. */
  BOT.candidatesTable = (body) => {
    const head = el("tr");
    const widths = el("colgroup");
    const rows = el("tbody");
    const table = el("table", { class: "bot-table bot-cands" }, widths, el("thead", null, head), rows);
    const wrap = BOT.say(el("div", { class: "bot-table-wrap", tabindex: 0, role: "region" }, table), "panel.candidates.table", "aria-label");
    body.append(wrap);
    const pool = []; // {row, cells, token, after}
    let columns = "";

    /** Put marked text into a cell unless it is there. */
    const put = (line, name, cell, text) => {
      if (line[name] === text) return;
      line[name] = text;
      cell.replaceChildren(text === null ? "" : BOT.visible(text));
    };

    function heads(trace, stages) {
      const titles = ["rank", "token", "id", "bytes", "after", "logit"].map((key) => BOT.t(`panel.candidates.col.${key}`));
      titles.push(...stages.map((name) => BOT.stageTitle(trace, name)), BOT.t("panel.candidates.col.sum"), BOT.t("panel.candidates.col.fate"));
      const wanted = `${titles.length}`;
      if (columns !== wanted) {
        columns = wanted;
        head.replaceChildren(...titles.map((_, k) => el("th", { scope: "col", class: [1, 3, 4, titles.length - 1].includes(k) ? null : "bot-n" })));
        // Fixed widths: columns that keep their places while steps go by, and a cheap layout.
        const wide = (k) => (k < FIRST.length ? FIRST[k] : k < titles.length - 2 ? STAGE : k === titles.length - 2 ? SUM : FATE);
        widths.replaceChildren(...titles.map((_, k) => el("col", { style: { width: `${wide(k)}rem` } })));
        table.style.minWidth = `${titles.reduce((sum, _, k) => sum + wide(k), 0)}rem`;
        pool.length = 0;
        rows.replaceChildren();
      }
      titles.forEach((title, k) => BOT.setText(head.children[k], title));
      return titles.length;
    }

    function grow(size, width) {
      while (pool.length < size) {
        const cells = Array.from({ length: width }, (_, k) =>
          el("td", { class: [1, 3, 4].includes(k) ? "bot-mono" : k === width - 1 ? null : "bot-n" }));
        const row = el("tr", null, cells);
        rows.append(row);
        pool.push({ row, cells, token: undefined, after: undefined });
      }
    }

    /** What the answer would show with this token, after the bytes held before it. */
    function after(line, cell, hex, held, special) {
      const found = BOT.piece(hex, held);
      if (!special && hex && found.text !== null) return put(line, "after", cell, found.text);
      const stray = held && BOT.piece(hex).text !== null ? "breaks" : "stray";
      const key = special || !hex ? "nothing" : found.missing === 1 ? "needs_one" : found.missing ? "needs" : stray;
      if (line.after !== null) put(line, "after", cell, null);
      line.after = null;
      BOT.setText(cell, BOT.t(`panel.candidates.${key}`, { k: found.missing }));
    }

    function draw(trace, i, limit) {
      const step = trace.steps[i];
      const { logits, probs, kept, tail } = BOT.arrays(step);
      const held = i > 0 ? trace.steps[i - 1].pending : "";
      const names = step.stages;
      const width = heads(trace, names);
      const shown = BOT.shownRows(step, limit);
      grow(shown.length + 1, width);
      const chosen = BOT.chosenAt(step);
      const lead = BOT.leading(step);
      const final = names.length - 1;
      const summed = tail[final] === 0 ? step.ids.length : lead;
      const special = new Set(step.special);
      const sums = [];
      let running = 0;
      for (let k = 0; k < summed; k++) sums.push((running += probs[final][k]));

      shown.forEach((k, n) => {
        const line = pool[n];
        const { cells, row } = line;
        row.hidden = false;
        const rank = k < lead ? k + 1 : k === chosen ? step.rank : null;
        BOT.setText(cells[0], `${k === chosen ? "★ " : ""}${rank === null ? "…" : BOT.num(rank)}`);
        const { text } = BOT.piece(BOT.hexes(step)[k]);
        if (text) put(line, "token", cells[1], text);
        else {
          line.token = undefined;
          BOT.setText(cells[1], BOT.hexes(step)[k] ? `⟨${BOT.hex(BOT.hexes(step)[k])}⟩` : BOT.t("panel.candidates.no_token"));
        }
        BOT.setText(cells[2], String(step.ids[k]));
        BOT.setText(cells[3], BOT.hex(BOT.hexes(step)[k]));
        cells[3].title = cells[3].textContent;
        after(line, cells[4], BOT.hexes(step)[k], held, special.has(k));
        number(cells[5], logits[k], BOT.sig(logits[k], 4));
        let cutBy = -1;
        names.forEach((_, s) => {
          if (!kept[s][k] && cutBy < 0) cutBy = s;
          const cell = cells[6 + s];
          if (kept[s][k]) number(cell, probs[s][k], BOT.prob(probs[s][k]));
          else number(cell, null, s === cutBy ? "✕" : "");
          cell.classList.toggle("is-cut", !kept[s][k]);
        });
        number(cells[width - 2], k < summed && kept[final][k] ? sums[k] : null, k < summed && kept[final][k] ? BOT.prob(sums[k]) : "–");
        BOT.setText(cells[width - 1], k === chosen ? BOT.t("panel.candidates.chosen")
          : cutBy < 0 ? BOT.t("panel.candidates.kept") : BOT.t("panel.candidates.cut_by", { stage: BOT.stageTitle(trace, names[cutBy]) }));
        row.classList.toggle("is-chosen", k === chosen);
        row.classList.toggle("is-cut", cutBy >= 0);
      });

      // The last line: all that is not listed.
      const line = pool[shown.length];
      line.row.hidden = false;
      line.row.className = "bot-cands-tail";
      line.cells.forEach((cell) => {
        BOT.setText(cell, "");
        cell.removeAttribute("title");
        cell.classList.remove("is-cut");
      });
      line.token = line.after = undefined;
      BOT.setText(line.cells[1], BOT.t("panel.candidates.tail_row", { n: BOT.num(trace.model.vocab_rows - step.ids.length) }));
      names.forEach((_, s) => number(line.cells[6 + s], tail[s], BOT.prob(tail[s])));
      for (let n = shown.length + 1; n < pool.length; n++) pool[n].row.hidden = true;
    }

    function number(cell, value, text) {
      BOT.setText(cell, text);
      if (value === null) cell.removeAttribute("title");
      else cell.title = BOT.exact(value, true);
    }

    return { draw };
  };
})();

/* The invariants of one run as a table: what was measured, what is allowed, and the room between.
 *
 * Room is drawn on one scale for all: how many times the tolerance a deviation is, in powers of ten.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  const GROUPS = {
    text: ["prompt", "text"],
    pick: ["prob_sum", "prob_values", "kept", "listed", "entropy", "logprob", "rank", "draw", "greedy", "seed"],
    cache: ["cache", "uncached"],
    inside: [], // and all that is named nowhere
  };
  const COLUMNS = ["verdict", "name", "room", "measured", "allowed", "unit"];
  const NUMBERS = new Set(["measured", "allowed"]);
  // The scale, in powers of ten of the tolerance.
  const LOW = -5;
  const HIGH = 2;
  const SIGNS = { true: "✓", false: "✕", null: "–" };

  const groupOf = (name) => Object.keys(GROUPS).find((group) => GROUPS[group].includes(name)) || "inside";
  const classOf = (column) => `bot-check-${column}${NUMBERS.has(column) ? " bot-n" : ""}`;
  const place = (power) => (100 * (power - LOW)) / (HIGH - LOW);

  /** The fewest digits that say a tolerance exactly, three at most. */
  function round(x) {
    const digits = [1, 2].find((n) => Number(x.toPrecision(n)) === x) || 3;
    return BOT.sig(x, digits);
  }

  // What stands at a step is said as the page counts: runs, from 1.
  const AT_STEP = { "check.detail.worst": "step", "check.detail.first": "step", "check.detail.step": "at" };

  /** A check's own sentence, its whole numbers with separators. */
  function detail({ ok, measured, detail: key, values }) {
    if (ok && measured === 0 && (key in AT_STEP || key === "check.detail.layer")) {
      return BOT.t("panel.check.nowhere", { compared: BOT.num(values.compared) });
    }
    const shown = Object.entries(values).map(([name, value]) => {
      const counted = name === AT_STEP[key] ? value + 1 : value;
      return [name, Number.isInteger(counted) ? BOT.num(counted) : counted];
    });
    return BOT.t(key in AT_STEP ? `panel.${key}` : key, Object.fromEntries(shown));
  }

  /** The step where the largest deviation is, or null where it has no step. */
  function stepOf({ ok, measured, detail: key, values }) {
    return ok === null || measured === 0 || !(key in AT_STEP) ? null : values[AT_STEP[key]];
  }

  /** How much of the tolerance is used, as a bar and in words. */
  function gauge() {
    const bar = el("i", { class: "bot-check-bar" });
    const track = el("div", { class: "bot-check-track", "aria-hidden": "true" }, bar);
    const words = el("span", { class: "bot-check-words" });
    return {
      nodes: [track, words],
      draw(check) {
        const { ok, measured, tolerance } = check;
        track.hidden = ok === null || (tolerance === 0 && ok);
        BOT.setText(words, says(check));
        if (track.hidden) return;
        const ratio = measured === null ? Infinity : measured / tolerance;
        const power = Math.min(HIGH, Math.max(LOW, Math.log10(ratio)));
        bar.hidden = measured === 0;
        bar.style.width = `max(3px, ${place(power)}%)`;
        bar.classList.toggle("is-off", ratio > 10 ** HIGH);
      },
    };
  }

  function says(check) {
    const { ok, measured, tolerance } = check;
    if (ok === null) return detail(check);
    if (tolerance === 0) return BOT.t(ok ? "panel.check.equal" : "panel.check.unequal");
    return measured === null ? "∞" : `${BOT.sig((100 * measured) / tolerance, 2)}%`;
  }

  /** One invariant: a row that is made once and filled for every run, and one under it that says
   *  how it is measured. */
  function row(name, go) {
    const sign = el("span", { class: "bot-check-sign", "aria-hidden": "true" });
    const word = el("span");
    const how = el("p");
    const where = el("p", { class: "bot-hint" });
    const show = el("button", { class: "bot-btn", type: "button", on: { click: () => go(step) } });
    const more = el("tr", { class: "bot-check-more", role: "row", id: `bot-check-${name}`, hidden: true },
      el("td", { role: "cell" }), el("td", { role: "cell", colspan: COLUMNS.length - 1 }, el("div", null, how, where, show)));
    const title = el("button", { class: "bot-check-title", type: "button", "aria-controls": more.id, "aria-expanded": "false", on: { click() {
      more.hidden = !more.hidden;
      node.classList.toggle("is-open", !more.hidden);
      BOT.setAttr(title, "aria-expanded", !more.hidden);
    } } });
    const room = gauge();
    const figure = (column) => BOT.say(el("td", { class: classOf(column), role: "cell" }), `panel.check.col.${column}`, "data-label");
    const cells = {
      verdict: el("td", { class: classOf("verdict"), role: "cell" }, sign, " ", word),
      name: el("th", { class: classOf("name"), scope: "row", role: "rowheader" }, title),
      room: el("td", { class: classOf("room"), role: "cell" }, el("div", null, room.nodes)),
      measured: figure("measured"), allowed: figure("allowed"), unit: figure("unit"),
    };
    const node = el("tr", { role: "row", "data-name": name }, COLUMNS.map((column) => cells[column]));
    let step = null;

    return {
      nodes: [node, more],
      draw(check) {
        const { ok, measured, tolerance, unit } = check;
        step = stepOf(check);
        BOT.setAttr(node, "data-ok", String(ok));
        BOT.setText(sign, SIGNS[ok]);
        BOT.setText(word, BOT.t(`panel.check.ok.${ok}`));
        BOT.setText(title, BOT.t(`check.${name}.title`));
        BOT.setText(how, BOT.t(`check.${name}.how`));
        BOT.setText(where, detail(check));
        show.hidden = step === null;
        if (step !== null) BOT.setText(show, BOT.t("panel.check.show_run", { n: BOT.num(step + 1) }));
        const far = ok === false && measured === null;
        BOT.setText(cells.measured, far ? "∞" : unit === "count" ? BOT.num(measured) : BOT.sig(measured, 2));
        BOT.setAttr(cells.measured, "title", measured === null ? null : BOT.exact(measured));
        BOT.setText(cells.allowed, tolerance === null ? "–" : tolerance === 0 ? "0" : `≤ ${round(tolerance)}`);
        BOT.setAttr(cells.allowed, "title", tolerance === null ? null : BOT.exact(tolerance));
        BOT.setText(cells.unit, BOT.t(`check.unit.${unit}`));
        room.draw(check);
      },
    };
  }

  /** The scale above the bars. */
  function axis() {
    return el("div", { class: "bot-check-axis" }, el("span", null, "0.001%"),
      BOT.say(el("span", { style: { left: `${place(0)}%` } }), "panel.check.axis.limit"));
  }

  function heading() {
    return el("tr", { role: "row" }, COLUMNS.map((column) => {
      const label = BOT.say(el("span"), `panel.check.col.${column}`);
      return el("th", { scope: "col", role: "columnheader", class: classOf(column) },
        label, column === "room" ? axis() : null);
    }));
  }

  /** checkTable({go(step)}) -> {node, draw(checks)}: those that do not hold first, the others by
   *  what they are about. */
  BOT.checkTable = ({ go }) => {
    const rows = new Map();
    const groups = new Map(["red", ...Object.keys(GROUPS)].map((name) => {
      const title = el("th", { scope: "rowgroup", role: "columnheader", colspan: COLUMNS.length });
      const head = el("tr", { class: "bot-check-group", role: "row" }, title);
      return [name, { title, head, body: el("tbody", { role: "rowgroup", "data-group": name }, head) }];
    }));
    const table = BOT.say(el("table", { class: "bot-table bot-checks", role: "table", style: { "--limit": `${place(0)}%`, "--decades": HIGH - LOW } },
      el("thead", { role: "rowgroup" }, heading()), [...groups.values()].map(({ body }) => body)), "panel.check.title", "aria-label");

    return {
      node: el("div", { class: "bot-table-wrap bot-check-wrap" }, table),
      draw(checks) {
        for (const [name, { title, head, body }] of groups) {
          const mine = checks.filter((check) => (check.ok === false ? "red" : groupOf(check.name)) === name);
          body.hidden = mine.length === 0;
          BOT.setText(title, BOT.t(`panel.check.group.${name}`));
          body.replaceChildren(head, ...mine.flatMap((check) => {
            if (!rows.has(check.name)) rows.set(check.name, row(check.name, go));
            rows.get(check.name).draw(check);
            return rows.get(check.name).nodes;
          }));
        }
      },
    };
  };
})();

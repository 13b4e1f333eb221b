/* Small controls that several panels share: a dial for layers and heads, and a table that folds. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  /** dial({key, name(i), get(), set(i)}) -> {node, set(n, allowed), draw()}: a number from 0 to n − 1,
   *  by a list or one up, one down. key: text of its label. allowed(i): whether i can be had. */
  BOT.dial = ({ key, name, get, set }) => {
    let n = 0;
    let allowed = () => true;
    const select = el("select", { class: "bot-dial-list", on: { change: () => set(Number(select.value)) } });
    BOT.say(select, key, "aria-label");
    const turn = (by) => {
      for (let i = get() + by; i >= 0 && i < n; i += by) if (allowed(i)) return set(i);
    };
    const back = BOT.say(el("button", { class: "bot-btn", type: "button", on: { click: () => turn(-1) } }, "‹"), "ui.inside.back", "aria-label");
    const forth = BOT.say(el("button", { class: "bot-btn", type: "button", on: { click: () => turn(1) } }, "›"), "ui.inside.forth", "aria-label");
    const node = el("div", { class: "bot-dial" }, BOT.say(el("span", { class: "bot-label" }), key), back, select, forth);
    const options = [];

    function draw() {
      while (options.length < n) {
        const option = el("option", { value: options.length });
        options.push(option);
        select.append(option);
      }
      while (options.length > n) options.pop().remove();
      options.forEach((option, i) => {
        BOT.setText(option, name ? name(i) : String(i));
        option.disabled = !allowed(i);
      });
      select.value = String(get());
    }

    return {
      node, draw,
      set(count, can = () => true) {
        n = count;
        allowed = can;
        draw();
      },
    };
  };

  /** fold({label, columns: [{key, class}], rows() -> [[text or {text, title, hex}, …], …], pick(k)}) ->
   *  {node, draw()}: a table under a line that opens it; drawn only while it is open, its rows used
   *  again. A cell {hex} is a token, {title} has the exact value in its title. */
  BOT.fold = ({ label, columns, rows, mark, pick }) => {
    const body = el("tbody", pick ? { on: { click: (event) => {
      const row = event.target.closest("tr");
      if (row) pick(lines.findIndex((line) => line.row === row));
    } } } : null);
    const wrap = BOT.say(el("div", { class: "bot-table-wrap", tabindex: 0, role: "region" },
      el("table", { class: "bot-table" },
        el("thead", null, el("tr", null, columns.map((c) => BOT.say(el("th", { scope: "col", class: c.class }), c.key)))), body)), label, "aria-label");
    // Filled before it opens: the browser tells of `toggle` only after it may have shown it empty.
    const summary = BOT.say(el("summary", { on: { click: () => { if (!node.open) fill(); } } }), label);
    const node = el("details", { class: "bot-fold", on: { toggle: () => draw() } }, summary, wrap);
    const lines = [];

    function put(cell, value) {
      const { text, title, hex } = value !== null && typeof value === "object" ? value : { text: value };
      if (hex !== undefined) BOT.show(cell, BOT.tokenText(hex), true);
      else BOT.setText(cell, text === undefined || text === null ? "–" : String(text));
      BOT.setAttr(cell, "title", title === undefined ? null : title);
    }

    function draw() {
      // Opened by the reader; and on screen, which behind a gate it is not: nothing is known yet.
      if (node.open && node.offsetParent) fill();
    }

    function fill() {
      const found = rows();
      const now = mark ? mark() : -1;
      while (lines.length < found.length) {
        const cells = columns.map((c) => el("td", { class: c.class }));
        lines.push({ cells, row: el("tr", null, cells) });
        body.append(lines[lines.length - 1].row);
      }
      lines.forEach(({ cells, row }, k) => {
        row.hidden = k >= found.length;
        BOT.setAttr(row, "aria-current", k === now ? "true" : null);
        if (!row.hidden) cells.forEach((cell, c) => put(cell, found[k][c]));
      });
    }

    return { node, draw };
  };
})();

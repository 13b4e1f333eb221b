/* From bytes to what can be read: a token's bytes come in, wait until a character is whole, and
 * become text. The text shown is the recorded one, joined; nothing is decoded again. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, state } = BOT;

  const CELLS = 16; // bytes shown as cells; a longer token says how many more it has

  /** A row of byte cells, made once and used again. */
  function cells() {
    const node = el("span", { class: "bot-bytes-row" });
    const items = Array.from({ length: CELLS }, () => el("span", { class: "bot-byte", hidden: true }));
    const rest = el("span", { class: "bot-muted" });
    node.append(...items, rest);
    return {
      node,
      set(hex, empty = 0) {
        const bytes = hex.match(/../g) || [];
        items.forEach((item, k) => {
          item.hidden = k >= bytes.length + empty;
          BOT.setText(item, k < bytes.length ? bytes[k] : "");
          item.classList.toggle("is-empty", k >= bytes.length);
        });
        BOT.setText(rest, bytes.length > CELLS ? `+${bytes.length - CELLS}` : bytes.length + empty ? "" : "–");
      },
    };
  }

  const COLUMNS = [
    { key: "panel.text.col.run", width: "4rem", class: "bot-n" }, { key: "panel.text.col.id", width: "5.5rem", class: "bot-n" },
    { key: "panel.text.col.bytes", width: "15rem", class: "bot-mono" }, { key: "panel.text.col.emitted", width: "13rem", class: "bot-mono" },
    { key: "panel.text.col.held", width: "13rem", class: "bot-mono" },
  ];

  BOT.panel({
    id: "text", stage: 6,
    mount(body, ctx) {
      const before = el("span");
      const fresh = el("mark", { class: "bot-fresh" });
      const caret = el("span", { class: "bot-caret", "aria-hidden": "true" });
      const answer = BOT.say(el("p", { class: "bot-text-now", dir: "auto", tabindex: 0 }, before, fresh, caret), "panel.text.answer", "aria-label");
      const [came, kept] = [cells(), cells()];
      const out = el("span", { class: "bot-text-out" });
      const wait = el("span", { class: "bot-lane-hint" });
      const broken = el("span", { class: "bot-lane-hint" });
      const flow = el("div", { class: "bot-flow" },
        el("div", { class: "bot-flow-box" }, BOT.say(el("span", { class: "bot-label" }), "panel.text.came"), came.node),
        el("span", { class: "bot-flow-arrow", "aria-hidden": "true" }, "→"),
        el("div", { class: "bot-flow-box" }, BOT.say(el("span", { class: "bot-label" }), "panel.text.buffer"), kept.node, wait),
        el("span", { class: "bot-flow-arrow", "aria-hidden": "true" }, "→"),
        el("div", { class: "bot-flow-box" }, BOT.say(el("span", { class: "bot-label" }), "panel.text.visible"), out, broken));
      const left = el("p", { class: "bot-note bot-note-warn", hidden: true });
      const table = BOT.rows({ label: "panel.text.table", columns: COLUMNS, draw: row, go: ctx.go });
      body.append(answer, flow, left, table.node);

      let joined = "";
      let ends = []; // characters of `joined` that were visible after each step

      function add(step) {
        joined += step.emitted;
        ends.push(joined.length);
      }

      function row(line, i) {
        const s = state.trace.steps[i];
        BOT.setText(line[0], BOT.num(i + 1));
        BOT.setText(line[1], String(s.tok.id));
        BOT.setText(line[2], BOT.hex(s.tok.hex));
        line[2].title = BOT.hex(s.tok.hex);
        const ended = s.emitted === "" && s.tok.special;
        BOT.setText(line[3], s.emitted ? BOT.visibleText(s.emitted) : ended ? BOT.t("panel.text.taken_off") : "–");
        BOT.setText(line[4], s.pending ? BOT.t("panel.text.held", { bytes: BOT.hex(s.pending), n: BOT.piece("", s.pending).missing }) : "–");
      }

      const plain = (text) => BOT.marks(text, true).map((run) => run[1]).join("");

      function step(i) {
        const s = state.trace.steps[i];
        const start = i > 0 ? ends[i - 1] : 0;
        BOT.setText(before, plain(joined.slice(0, start)));
        BOT.setText(fresh, s ? plain(joined.slice(start, ends[i])) : "");
        setTimeout(toEnd); // after the frame, when the browser has laid the page out anyway
        came.set(s ? s.tok.hex : "");
        const missing = s && s.pending ? BOT.piece("", s.pending).missing : 0;
        kept.set(s ? s.pending : "", missing);
        BOT.setText(wait, missing ? BOT.t("ui.held", { n: missing }) : BOT.t("panel.text.none_held"));
        const held = i > 0 ? state.trace.steps[i - 1].pending : "";
        const stray = s && s.emitted.includes("\ufffd") && BOT.piece(s.tok.hex, held).stray;
        BOT.setText(broken, stray ? BOT.t("panel.text.stray", { bytes: BOT.hex(held + s.tok.hex) }) : "");
        BOT.show(out, s ? s.emitted : "");
        out.classList.toggle("is-empty", !s || s.emitted === "");
        remains(i);
        table.current(i);
      }

      function toEnd() {
        answer.scrollTop = answer.scrollHeight;
      }

      /** Bytes that the end of the run left unfinished, and what decoding all ids makes of them. */
      function remains(i) {
        const { trace } = state;
        const s = trace.steps[i];
        const tail = trace.finish ? trace.text.slice(joined.length) : "";
        left.hidden = !(s && i === trace.steps.length - 1 && s.pending && trace.finish);
        if (!left.hidden) BOT.setText(left, BOT.t("panel.text.left", { bytes: BOT.hex(s.pending), text: BOT.visibleText(tail) || "–" }));
      }

      return {
        trace(trace) {
          joined = "";
          ends = [];
          trace.steps.forEach(add);
          table.set(trace.steps.length);
          table.redraw();
        },
        append(s) {
          add(s);
          table.set(ends.length);
        },
        end: () => remains(state.i),
        step,
        lang() {
          table.redraw();
          if (state.trace) step(state.i);
        },
      };
    },
  });
})();

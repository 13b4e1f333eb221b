/* The text in pieces: prompt and answer as tokens, one of them chosen and told in full.
 *
 * Choosing a token tells the other panels (`select`); the embedding panel shows its row. During a
 * replay the answer's current token is marked, and those still to come are faint.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  const TINTS = 6;
  const COLUMNS = [
    { key: "panel.tokens.col.where", width: "7rem" }, { key: "panel.tokens.col.token", width: "10rem", class: "bot-mono" },
    { key: "panel.tokens.col.id", width: "5.5rem", class: "bot-n" }, { key: "panel.tokens.col.bytes", width: "13rem", class: "bot-mono" },
    { key: "panel.tokens.col.chars", width: "6.5rem", class: "bot-n" }, { key: "panel.tokens.col.special", width: "5rem" },
    { key: "panel.tokens.col.source", width: "8rem" },
  ];

  const utf8 = new TextEncoder();
  const size = (text) => utf8.encode(text).length;

  BOT.panel({
    id: "tokens", stage: 2,
    mount(body, ctx) {
      let characters = []; // of the templated text
      let chosen = { where: "prompt", index: 0 };
      let at = -1;
      let names = 0; // makes an option's DOM id unique over traces

      const list = (where) => ({ where, token: where === "prompt" ? (k) => ctx.trace.prompt[k] : (k) => ctx.trace.steps[k].tok });
      const sides = Object.fromEntries(["prompt", "answer"].map((where) => {
        const counts = el("span", { class: "bot-muted" });
        const box = el("div", { class: "bot-toks", role: "listbox", tabindex: 0, dir: "auto", "data-where": where,
          "aria-orientation": "horizontal", on: { click, keydown, mouseover: over, mouseleave: () => detail(chosen), focus } });
        BOT.say(box, `panel.tokens.${where}`, "aria-label");
        return [where, { ...list(where), box, counts, nodes: [], group: null, chars: 0, bytes: 0 }];
      }));
      const none = BOT.say(el("p", { class: "bot-hint" }), "panel.tokens.no_answer");
      const card = BOT.tokenCard();
      const facts = el("p", { class: "bot-facts-line" });
      const table = BOT.rows({ label: "panel.tokens.table", columns: COLUMNS, draw: row, go: (k) => choose(locate(k)) });
      const block = (where, more) => el("div", { class: "bot-toks-block" },
        el("h3", { class: "bot-label" }, BOT.say(el("span"), `panel.tokens.${where}`), " ", sides[where].counts), sides[where].box, more);
      body.append(
        el("div", { class: "bot-tokens" },
          el("div", { class: "bot-tokens-streams" }, block("prompt"), block("answer", none),
            BOT.say(el("p", { class: "bot-hint" }), "panel.tokens.keys")),
          card.node),
        facts, table.node);

      const has = ({ where, index }) => index >= 0 && index < sides[where].nodes.length;

      function add(side, token) {
        const k = side.nodes.length;
        const node = el("span", { class: `bot-tok bot-tint-${k % TINTS}`, role: "option", id: `bot-tok-${names++}`,
          "aria-selected": "false", "data-k": k, "data-source": token.source }, BOT.pieceNode(token.hex));
        if (token.special) node.classList.add("is-special");
        if (side.where === "answer" && k > at) node.classList.add("is-future");
        side.nodes.push(node);
        const { text } = BOT.piece(token.hex);
        arrange(side, token, k, node, text);
        if (text && text.endsWith("\n")) side.box.append(el("br"));
      }

      /** Pieces that only together are characters stand in one group, with those under them. */
      function arrange(side, token, k, node, text) {
        const { group } = side;
        const held = side.where === "answer" ? k > 0 && ctx.trace.steps[k - 1].pending !== "" : group && token.start < group.end;
        if (text !== null && !(group && held)) {
          side.group = null;
          side.box.append(node);
          return;
        }
        if (group && held) group.node.insertBefore(node, group.name);
        else {
          const caption = el("span", { class: "bot-group-name", "aria-hidden": "true" });
          side.group = { node: el("span", { class: "bot-group", role: "presentation" }, node, caption), name: caption, start: token.start, text: "" };
          side.box.append(side.group.node);
        }
        side.group.end = token.end;
        if (side.where === "answer") side.group.text += ctx.trace.steps[k].emitted;
        else side.group.text = characters.slice(side.group.start, token.end).join("");
        BOT.show(side.group.name, side.group.text);
      }

      function name(side, k) {
        const token = side.token(k);
        BOT.setAttr(side.nodes[k], "aria-label", BOT.t("panel.tokens.option", { id: token.id,
          where: BOT.t(`panel.tokens.row_${side.where}`, { n: BOT.num(k + 1) }), text: BOT.pieceSays(token.hex) }));
      }

      /** Choose a token here, without telling anybody. */
      function mark(what) {
        if (has(chosen)) BOT.setAttr(sides[chosen.where].nodes[chosen.index], "aria-selected", "false");
        chosen = what;
        if (!has(chosen)) return;
        for (const side of Object.values(sides)) {
          const node = side.where === what.where ? side.nodes[what.index] : null;
          BOT.setAttr(side.box, "aria-activedescendant", node && node.id);
          if (!node) continue;
          name(side, what.index);
          BOT.setAttr(node, "aria-selected", "true");
          revealSoon(side.box, node);
        }
        detail(chosen);
        table.current(line(chosen));
      }

      function choose(what) {
        if (!has(what)) return;
        mark(what);
        ctx.select(what);
      }

      /** Scroll the box, never the page; in the next frame, when the layout of this one is done
       *  and asking where things are costs nothing. */
      const waiting = new Map(); // box -> what is to be seen in it
      function revealSoon(box, node) {
        if (!waiting.size) {
          requestAnimationFrame(() => {
            for (const pair of waiting) BOT.reveal(...pair);
            waiting.clear();
          });
        }
        waiting.set(box, node);
      }

      const under = (event) => {
        const node = event.target.closest(".bot-tok");
        return node && { where: event.currentTarget.dataset.where, index: Number(node.dataset.k) };
      };
      function click(event) {
        const what = under(event);
        if (what) choose(what);
      }
      function over(event) {
        const what = under(event);
        if (what) detail(what);
      }
      function focus(event) {
        const { where } = event.currentTarget.dataset;
        if (chosen.where !== where && sides[where].nodes.length) choose({ where, index: Math.max(0, where === "answer" ? at : 0) });
      }
      function keydown(event) {
        const { where } = event.currentTarget.dataset;
        const last = sides[where].nodes.length - 1;
        const k = chosen.where === where ? chosen.index : 0;
        const to = { ArrowRight: k + 1, ArrowDown: k + 1, ArrowLeft: k - 1, ArrowUp: k - 1, Home: 0, End: last,
          PageDown: k + 10, PageUp: k - 10 }[event.key];
        if (to === undefined || last < 0) return;
        event.preventDefault();
        choose({ where, index: Math.max(0, Math.min(last, to)) });
      }

      function detail(what) {
        if (!ctx.trace || !has(what)) return;
        card.show(ctx.trace, what, sides[what.where].nodes.length, characters);
      }

      /* The table runs over prompt and answer together. */
      const line = ({ where, index }) => (where === "prompt" ? index : sides.prompt.nodes.length + index);
      const locate = (k) => {
        const n = sides.prompt.nodes.length;
        return k < n ? { where: "prompt", index: k } : { where: "answer", index: k - n };
      };
      function row(cell, k) {
        const what = locate(k);
        const token = sides[what.where].token(what.index);
        BOT.setText(cell[0], BOT.t(`panel.tokens.row_${what.where}`, { n: BOT.num(what.index + 1) }));
        BOT.setText(cell[1], BOT.piece(token.hex).text === null ? `⟨${BOT.hex(token.hex)}⟩` : BOT.visibleText(BOT.piece(token.hex).text));
        BOT.setText(cell[2], String(token.id));
        BOT.setText(cell[3], BOT.hex(token.hex));
        BOT.setText(cell[4], token.start === null ? "–" : token.end - token.start === 1 ? BOT.num(token.start) : `${BOT.num(token.start)}–${BOT.num(token.end - 1)}`);
        BOT.setText(cell[5], token.special ? BOT.t("panel.tokens.special_short") : "–");
        BOT.setText(cell[6], BOT.sourceName(token.source));
      }

      function count() {
        const { trace } = ctx;
        for (const side of Object.values(sides)) {
          BOT.setText(side.counts, BOT.t("panel.tokens.counts", { tokens: BOT.num(side.nodes.length),
            chars: BOT.num(side.chars), bytes: BOT.num(side.bytes) }));
        }
        none.hidden = sides.answer.nodes.length > 0;
        sides.answer.box.hidden = !none.hidden;
        table.set(sides.prompt.nodes.length + sides.answer.nodes.length);
        const { model } = trace;
        BOT.setText(facts, BOT.t("panel.tokens.model_facts", { size: BOT.num(model.vocab_size), rows: BOT.num(model.vocab_rows),
          width: BOT.num(model.d_model), values: BOT.num(model.vocab_rows * model.d_model) }));
      }

      /** Of the answer count the characters as they became visible; its end token is no text. */
      function measure(side, text) {
        side.chars += [...text].length;
        side.bytes += size(text);
      }

      /** Everything in words again. */
      function say() {
        count();
        if (has(chosen)) name(sides[chosen.where], chosen.index);
        detail(chosen);
        table.redraw();
      }

      ctx.on("select", (what) => {
        if (has(what) && (what.where !== chosen.where || what.index !== chosen.index)) mark(what);
      });

      return {
        trace(trace) {
          characters = [...trace.templated_text];
          at = -1;
          for (const side of Object.values(sides)) {
            Object.assign(side, { nodes: [], group: null, chars: 0, bytes: 0 });
            side.box.replaceChildren();
          }
          measure(sides.prompt, trace.templated_text);
          for (const step of trace.steps) measure(sides.answer, step.emitted);
          trace.prompt.forEach((token) => add(sides.prompt, token));
          trace.steps.forEach((step) => add(sides.answer, step.tok));
          say();
          mark(BOT.firstChoice(trace));
        },
        append(step) {
          add(sides.answer, step.tok);
          measure(sides.answer, step.emitted);
          count();
          if (chosen.where === "answer" || sides.answer.nodes.length === 1) detail(chosen);
        },
        step(i) {
          const { nodes } = sides.answer;
          if (nodes[at]) nodes[at].classList.remove("is-current");
          for (let k = Math.min(at, i) + 1; k <= Math.max(at, i); k++) if (nodes[k]) nodes[k].classList.toggle("is-future", k > i);
          at = i;
          if (!nodes[i]) return;
          nodes[i].classList.add("is-current");
          revealSoon(sides.answer.box, nodes[i]);
        },
        lang() {
          if (ctx.trace) say();
        },
      };
    },
  });
})();

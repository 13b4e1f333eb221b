/* What you wrote beside what the model reads: the templated text as one stream, told by whom each
 * part was written. Told by the kind of underline and a legend, not by colour alone.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  const ROLES = {
    system: "panel.template.role.system", user: "panel.template.role.user",
    assistant: "panel.template.role.assistant",
  };
  const SOURCES = {
    template: "panel.template.source.template", system: "panel.template.source.system",
    user: "panel.template.source.user", assistant: "panel.template.source.assistant",
    thinking: "panel.template.source.thinking", generated: "panel.template.source.generated",
    special: "panel.template.source.special", lost: "panel.template.source.lost",
  };
  /** The name of a source, for this panel and the next. */
  BOT.sourceName = (source) => BOT.t(SOURCES[source] || SOURCES.template);

  /** The text cut into parts: {source, special, start, end, tokens}, in characters (not UTF-16
   *  units, which count an emoji twice). What no token covers is a part of source "lost". */
  BOT.parts = (prompt, length) => {
    const parts = [];
    let at = 0;
    for (const token of prompt) {
      if (token.start === null) continue;
      if (token.start > at) parts.push({ source: "lost", special: false, start: at, end: token.start, tokens: 0 });
      const last = parts[parts.length - 1];
      const joins = last && last.source === token.source && !last.special && !token.special;
      // Several byte pieces of one character share its span.
      if (joins && token.start <= last.end) Object.assign(last, { end: Math.max(last.end, token.end), tokens: last.tokens + 1 });
      else parts.push({ source: token.source, special: token.special, start: token.start, end: token.end, tokens: 1 });
      at = Math.max(at, token.end);
    }
    if (at < length) parts.push({ source: "lost", special: false, start: at, end: length, tokens: 0 });
    return parts;
  };

  /* ---- what the next panels say of tokens too ---- */

  /** A piece's bytes in words: its text, or what it lacks. */
  BOT.pieceSays = (hex) => {
    if (!hex) return BOT.t("panel.tokens.no_bytes");
    const { text, missing } = BOT.piece(hex);
    if (text !== null) return BOT.visibleText(text);
    if (!missing) return BOT.t("panel.tokens.stray");
    return BOT.t(missing === 1 ? "panel.tokens.needs_one" : "panel.tokens.needs", { k: missing });
  };

  /** A piece's bytes as nodes: marked text, or the bytes themselves. */
  BOT.pieceNode = (hex) => {
    const { text } = BOT.piece(hex);
    return text ? BOT.visible(text) : el("span", { class: "bot-hexpiece" }, hex ? BOT.hex(hex) : "∅");
  };

  /** What is chosen when nobody has chosen yet: the first token that the user wrote. */
  BOT.firstChoice = (trace) => {
    const index = trace.prompt.findIndex((token) => token.source === "user" && !token.special);
    return { where: "prompt", index: Math.max(0, index) };
  };

  /* ---- the panel ---- */

  /** Text with its line breaks marked and made; blanks as they are. */
  function lines(text) {
    const nodes = [];
    text.split("\n").forEach((line, k) => {
      if (k) nodes.push(el("span", { class: "bot-sign", "aria-hidden": "true" }, "↵"), el("br"));
      if (line) nodes.push(BOT.visible(line, true));
    });
    return nodes;
  }

  const tokensOf = (n) => BOT.t(n === 1 ? "panel.template.part_one" : "panel.template.part", { n: BOT.num(n) });

  BOT.panel({
    id: "template", stage: 1,
    mount(body, ctx) {
      const wrote = el("div", { class: "bot-wrote" });
      const stream = el("div", { class: "bot-reads", dir: "auto", tabindex: 0, role: "region" });
      BOT.say(stream, "panel.template.reads", "aria-label");
      const legend = el("dl", { class: "bot-legend" });
      BOT.say(legend, "panel.template.legend", "aria-label");
      const counts = el("p", { class: "bot-facts-line" });
      body.append(
        el("div", { class: "bot-template" },
          el("div", { class: "bot-template-side" }, BOT.say(el("h3", { class: "bot-label" }), "panel.template.wrote"), wrote),
          el("span", { class: "bot-template-arrow", "aria-hidden": "true" }, "→"),
          el("div", { class: "bot-template-side" }, BOT.say(el("h3", { class: "bot-label" }), "panel.template.reads"), stream, legend)),
        counts);

      function card(role, text) {
        return el("div", { class: "bot-said", "data-source": role },
          el("p", { class: "bot-said-by" }, ROLES[role] ? BOT.t(ROLES[role]) : BOT.t("panel.template.raw")),
          el("div", { class: "bot-said-text", dir: "auto" }, text ? lines(text) : BOT.t("panel.template.empty")));
      }

      function draw(trace) {
        const raw = trace.messages === null;
        wrote.replaceChildren(...(raw ? [card("raw", trace.raw_prompt)] : trace.messages.map((m) => card(m.role, m.content))));
        if (trace.thinking !== null) {
          wrote.append(el("p", { class: "bot-hint" }, BOT.t(trace.thinking ? "panel.template.thinking_on" : "panel.template.thinking_off")));
        }
        const characters = [...trace.templated_text];
        const parts = BOT.parts(trace.prompt, characters.length);
        stream.replaceChildren();
        for (const part of parts) {
          const title = BOT.t("panel.template.part_title", { source: BOT.sourceName(part.source),
            start: BOT.num(part.start), end: BOT.num(part.end - 1), tokens: tokensOf(part.tokens) });
          const text = characters.slice(part.start, part.end).join("");
          stream.append(el("span", { class: part.special ? "bot-special" : "bot-part", "data-source": part.source, title }, lines(text)));
        }
        marks(parts);
        const written = raw ? trace.raw_prompt : trace.messages.map((m) => m.content).join("");
        BOT.setText(counts, BOT.t("panel.template.counts", { wrote: BOT.num([...written].length),
          reads: BOT.num(characters.length), tokens: BOT.num(trace.prompt.length) }));
      }

      /** The legend: only what occurs, each with its sample and how much of it there is. */
      function marks(parts) {
        legend.replaceChildren();
        const add = (source, special, tokens) => legend.append(el("div", null,
          el("dt", null, el("span", { class: special ? "bot-special" : "bot-part", "data-source": source }, special ? "‹›" : "Abc")),
          el("dd", null, BOT.sourceName(special ? "special" : source), " ", el("span", { class: "bot-muted" }, tokensOf(tokens)))));
        for (const source of Object.keys(SOURCES)) {
          const own = parts.filter((p) => p.source === source && !p.special);
          if (own.length) add(source, false, own.reduce((sum, p) => sum + p.tokens, 0));
        }
        const special = parts.filter((p) => p.special);
        if (special.length) add("template", true, special.length);
      }

      return {
        trace: draw,
        step() {},
        lang() {
          if (ctx.trace) draw(ctx.trace);
        },
      };
    },
  });
})();

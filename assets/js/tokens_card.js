/* One token told in full: its bytes, its text, the characters it covers, where it came from. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  const DETAILS = {
    id: "panel.tokens.id", bytes: "panel.tokens.bytes", text: "panel.tokens.text", covers: "panel.tokens.covers",
    special: "panel.tokens.special", source: "panel.tokens.source",
  };

  /** What of the text a prompt's token covers, or what an answer's token made visible.
   *  characters: of the templated text. */
  function covers(trace, token, { where, index }, characters) {
    if (where === "answer") {
      const { emitted } = trace.steps[index];
      return emitted ? BOT.t("panel.tokens.emitted", { text: BOT.visibleText(emitted) }) : BOT.t("panel.tokens.emitted_none");
    }
    if (token.start === null) return BOT.t("panel.tokens.no_span");
    const values = { start: BOT.num(token.start), end: BOT.num(token.end - 1),
      text: BOT.visibleText(characters.slice(token.start, token.end).join("")) };
    return BOT.t(token.end - token.start === 1 ? "panel.tokens.span_one" : "panel.tokens.span", values);
  }

  /** {node, show(trace, {where, index}, total, characters)} */
  BOT.tokenCard = () => {
    const place = el("p", { class: "bot-label" });
    const big = el("p", { class: "bot-token-big" });
    const cells = Object.fromEntries(Object.keys(DETAILS).map((name) => [name, el("dd")]));
    const node = el("div", { class: "bot-token-card", role: "group" }, place, big,
      el("dl", { class: "bot-facts" }, Object.entries(DETAILS).map(([name, key]) => el("div", null, BOT.say(el("dt"), key), cells[name]))));
    BOT.say(node, "panel.tokens.detail", "aria-label");

    function show(trace, what, total, characters) {
      const { where, index } = what;
      const token = where === "prompt" ? trace.prompt[index] : trace.steps[index].tok;
      BOT.setText(place, BOT.t(`panel.tokens.place_${where}`, { n: BOT.num(index + 1), total: BOT.num(total) }));
      big.replaceChildren(BOT.pieceNode(token.hex));
      BOT.setText(cells.id, String(token.id));
      BOT.setText(cells.bytes, token.hex ? BOT.hex(token.hex) : BOT.t("panel.tokens.no_bytes"));
      BOT.setText(cells.text, BOT.pieceSays(token.hex));
      BOT.setText(cells.covers, covers(trace, token, what, characters));
      BOT.setText(cells.special, BOT.t(token.special ? "panel.tokens.yes" : "panel.tokens.no"));
      BOT.setText(cells.source, BOT.sourceName(token.source));
    }

    return { node, show };
  };
})();

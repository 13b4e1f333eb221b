/* The same word with a space before it and without: two stories, one of them on the stage. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, lab } = BOT;
  // A word of letters, and no longer than one line; `▁` is a space in some vocabularies' normalised text.
  const WORD = /^([ ▁]?)(\p{L}[\p{L}\p{M}]{0,39})$/u;

  /** mergeTwin({show(written), fail}) -> {node, set(text, written), draw(), lang()}: text of the word, and how
   *  the vocabulary writes it. */
  BOT.mergeTwin = ({ show }) => {
    const rows = [0, 1].map((k) => {
      const chip = el("button", { class: "bot-chip", type: "button", on: { click: () => choose(k) } });
      const found = el("span", { class: "bot-merges-found" });
      return { chip, found, node: el("div", { class: "bot-merges-twinrow" }, chip, el("span", { "aria-hidden": "true" }, "→"), found) };
    });
    const same = el("p", { class: "bot-hint", hidden: true });
    const node = el("div", { class: "bot-merges-twin", hidden: true }, BOT.say(el("p", { class: "bot-label" }), "panel.merges.twin"), rows.map((row) => row.node), same);
    let both = []; // {text, written, story}
    let at = 0;

    function draw() {
      rows.forEach(({ chip, found, node: line }, k) => {
        line.hidden = !both[k];
        if (!both[k]) return;
        BOT.show(chip, both[k].text);
        BOT.setAttr(chip, "aria-pressed", k === at);
        const { story } = both[k];
        if (!story) return found.replaceChildren();
        found.replaceChildren(...story.hexes.map((hex, p) => el("span", { class: `bot-merges-small bot-tint-${p % 6}` }, BOT.pieceNode(hex), el("b", null, String(story.ids[p])))),
          el("span", { class: "bot-muted" }, BOT.t("panel.merges.tokens", { n: story.ids.length })));
      });
    }

    function choose(k) {
      at = k;
      draw();
      show(both[k].written);
    }

    const apply = BOT.latest((found) => {
      const [first, other] = found;
      if (!other) {
        node.hidden = true;
        return;
      }
      both = [first, other].sort((a, b) => a.text.length - b.text.length);
      at = both.indexOf(first);
      node.hidden = false;
      draw();
    }, () => { node.hidden = true; });

    /** The twin's written form comes from the vocabulary itself, as the only word of that text. */
    async function find(text, written) {
      const [, blank, word] = WORD.exec(text);
      const twin = blank ? word : ` ${word}`;
      const cut = await lab.ask("cut", { text: twin });
      if (cut.words.length !== 1 || cut.words[0][2] === written) return [null, null];
      const stories = await Promise.all([written, cut.words[0][2]].map((w) => lab.ask("story", { written: w })));
      return [{ text: text.replace("▁", " "), written, story: stories[0] }, { text: twin, written: cut.words[0][2], story: stories[1] }];
    }

    return {
      node,
      set(text, written) {
        node.hidden = true;
        both = [];
        apply(WORD.test(text) ? find(text, written) : Promise.resolve([null, null]));
      },
      lang: () => both.length && draw(),
    };
  };
})();

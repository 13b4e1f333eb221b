/* The words of a text as the pre-tokenizer leaves them: a chip for each, with the number of the rule
 * that cut it off. Long texts a page at a time.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const PAGE = 150;

  /** mergeWords({choose(w)}) -> {node, set(cut), mark(w), redraw()}. */
  BOT.mergeWords = ({ choose }) => {
    let cut = null;
    let chars = [];
    let at = -1;
    let shown = []; // the chips there are, by word
    const box = el("div", { class: "bot-merges-words", role: "group", "data-bot-keys": "own", on: { click, keydown } });
    BOT.say(box, "panel.merges.words", "aria-label");
    const pager = BOT.pager({ size: PAGE, draw: page });
    const node = el("div", { class: "bot-merges-wordbox" }, box, pager.node);

    function page(from, to) {
      if (!cut) return;
      shown = [];
      const nodes = [];
      let end = from === 0 ? 0 : cut.words[from - 1][1];
      for (let w = from; w < to; w++) {
        const [start, stop, , rule] = cut.words[w];
        if (start > end) nodes.push(gap(end, start));
        end = stop;
        const chip = el("button", { class: "bot-merges-word", type: "button", "data-w": w, "aria-pressed": "false", tabindex: -1 },
          el("span", { class: "bot-merges-text" }, BOT.visible(chars.slice(start, stop).join(""))),
          el("span", { class: "bot-merges-no", "aria-hidden": "true" }, rule < 0 ? "–" : String(rule + 1)));
        shown[w] = chip;
        nodes.push(chip);
      }
      const rest = to === cut.words.length ? chars.length : end;
      if (rest > end) nodes.push(gap(end, rest));
      box.replaceChildren(...nodes);
      press();
    }

    /** Characters that are in no word. */
    function gap(from, to) {
      return el("span", { class: "bot-merges-gap", title: BOT.t("panel.merges.gap") }, BOT.visible(chars.slice(from, to).join("")));
    }

    function press() {
      shown.forEach((chip, w) => {
        BOT.setAttr(chip, "aria-pressed", w === at);
        BOT.setAttr(chip, "tabindex", w === at ? 0 : -1);
      });
    }

    function click(event) {
      const chip = event.target.closest("[data-w]");
      if (chip) choose(Number(chip.dataset.w));
    }

    function keydown(event) {
      const last = cut.words.length - 1;
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      choose(Math.max(0, Math.min(last, to)));
      if (shown[at]) shown[at].focus();
    }

    return {
      node,
      text: (w) => chars.slice(cut.words[w][0], cut.words[w][1]).join(""),
      set(next) {
        cut = next;
        chars = [...cut.normalised];
        at = -1;
        pager.set(cut.words.length);
      },
      mark(w) {
        at = w;
        if (!shown[w]) pager.go(w);
        else press();
      },
      redraw: () => cut && pager.redraw(),
    };
  };
})();

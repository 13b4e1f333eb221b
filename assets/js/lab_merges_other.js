/* How a word becomes pieces where nothing is merged: the best path of a Unigram model with its scores,
 * the longest match of WordPiece, whole words, and a word taken whole.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  const t = (key, values) => BOT.t(`panel.merges.${key}`, values);

  /** The pieces of a story in a row: {written or text, bytes, id, score}. */
  function pieces(story) {
    const most = story.scores ? Math.max(...story.scores.map(Math.abs), 1e-9) : 1;
    return el("ol", { class: `bot-merges-path is-${story.kind}` }, story.pieces.map((written, k) => {
      const score = story.scores ? story.scores[k] : null;
      return el("li", { class: `bot-tint-${k % 6}` },
        el("span", { class: "bot-merges-text" }, el("bdi", null, BOT.visibleText(written))),
        el("b", null, String(story.ids[k])),
        score === null ? null : el("span", { class: "bot-merges-score", title: BOT.exact(score) },
          el("i", { style: { width: `${100 * Math.abs(score) / most}%` } }), el("span", null, BOT.sig(score, 4))));
    }));
  }

  /** Sentences on how this kind of vocabulary found these pieces. */
  function says(story) {
    const n = BOT.num(story.pieces.length);
    if (story.whole) return [t("whole")];
    if (story.kind === "unigram") {
      const sum = story.scores.reduce((a, b) => a + b, 0);
      return [t("unigram", { n }), t("unigram_sum", { parts: story.scores.map((x) => BOT.sig(x, 4)).join(" + ").replace(/\+ −/g, "− "), sum: BOT.sig(sum, 4) })];
    }
    if (story.kind === "wordpiece") return [t("wordpiece", { n }), t(story.pieces.some((p) => p.startsWith("##")) ? "wordpiece_on" : "wordpiece_off")];
    return [t("words_only")];
  }

  /** mergeOther() -> {node, set(story), lang()}. */
  BOT.mergeOther = () => {
    const text = el("div", { class: "bot-merges-says" });
    const place = el("div");
    const node = el("div", { class: "bot-merges-other", hidden: true }, text, place);
    let story = null;
    function draw() {
      text.replaceChildren(...says(story).map((line) => el("p", null, line)));
      place.replaceChildren(pieces(story));
    }
    return {
      node,
      set(next) {
        story = next;
        node.hidden = !story;
        if (story) draw();
      },
      lang: () => story && draw(),
    };
  };
})();

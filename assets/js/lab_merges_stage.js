/* One word's merges: the row of symbols, the tree above its leaves, the player, and the table of all. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  const t = (key, values) => BOT.t(`panel.merges.${key}`, values);
  const isolated = (text) => `\u2068${text}\u2069`;

  /** mergeStage() -> {node, set(story, total), stop(), lang()}. total: merges that the vocabulary learnt. */
  BOT.mergeStage = () => {
    const row = BOT.mergeRow();
    const says = el("p", { class: "bot-merges-step" });
    const next = el("p", { class: "bot-merges-next" });
    const stage = BOT.say(el("div", { class: "bot-merges-stage", tabindex: 0, role: "group", "data-bot-keys": "own" }, row.node,
      el("div", { class: "bot-merges-told", role: "status" }, says, next)), "panel.merges.stage", "aria-label");
    const player = BOT.mergePlayer(stage, draw);
    const tree = BOT.mergeTree({ go: (s) => player.go(s) });
    const about = BOT.say(el("p", { class: "bot-hint" }), "panel.merges.tree_about");
    const column = (name, kind) => ({ key: `panel.merges.col.${name}`, class: kind });
    const fold = BOT.fold({
      label: "panel.merges.table", mark: () => player.at - 1, pick: (k) => player.go(k + 1), rows: table,
      columns: [column("step", "bot-n"), column("rank", "bot-n"), column("left", "bot-mono"), column("right", "bot-mono"), column("both", "bot-mono"), column("bytes", "bot-mono"), column("rest", "bot-n")],
    });
    const node = el("div", { class: "bot-merges-bpe", hidden: true }, stage, player.node, tree.node, about, fold.node);
    let model = null;
    let story = null;
    let total = 0;

    const name = (k) => isolated(model.nodes[k].text);
    const number = (m) => BOT.num(m.rank + 1);

    function last() {
      const { merges, n } = model;
      if (!story.pieces.length) return t("dropped");
      return merges.length ? t("end", { n: BOT.num(story.ids.length), symbols: BOT.num(n) }) : t(n === 1 ? "end_single" : "end_none");
    }

    function sentence(s) {
      const m = model.merges[s - 1];
      return m ? t("step", { s, total: model.merges.length, left: name(m.left), right: name(m.right), both: name(m.node), rank: number(m), all: BOT.num(total) })
        : t("start", { n: model.n, bytes: model.how === "text" ? t("symbols_text") : t("symbols_bytes") });
    }

    function draw(s) {
      if (!model) return;
      const m = model.merges[s];
      BOT.setText(says, sentence(s));
      BOT.setText(next, m ? t("next", { left: name(m.left), right: name(m.right), rank: number(m) }) : last());
      row.step(s, `${says.textContent} ${next.textContent}`);
      tree.step(s);
      fold.draw();
    }

    function table() {
      return model.merges.map((m, k) => {
        const [left, right, both] = [m.left, m.right, m.node].map((n) => model.nodes[n]);
        return [k + 1, { text: number(m), title: t("rank_title", { rank: m.rank }) }, left.text, right.text, both.text, BOT.hex(both.hex), model.n - k - 1];
      });
    }

    return {
      node,
      stop: () => player.stop(),
      set(next_, all) {
        story = next_;
        total = all;
        node.hidden = !story;
        if (!story) {
          player.stop();
          return;
        }
        model = BOT.mergeModel(story);
        row.set(model, story.ids);
        tree.set(model, story.ids);
        fold.node.hidden = player.node.hidden = !model.merges.length;
        player.set(model.merges.length);
      },
      lang: () => model && story && player.lang(),
    };
  };
})();

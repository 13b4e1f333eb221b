/* Attention: where the position that answers looked, head by head, and how its weights came about.
 *
 * All of it follows the player; the map and the keys can be held at any other position.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  BOT.insidePanel({
    id: "attention", stage: 3, deck: "inside",
    mount(body, ctx) {
      let data = null;
      let found = null; // the chosen head's numbers
      let aside = false; // the first token left out of the scale

      const all = BOT.attention.all(ctx);
      const chips = BOT.attention.chips();
      const map = BOT.attention.map(ctx);
      const keys = BOT.attention.keys();
      const box = el("input", { type: "checkbox", on: { change: () => {
        aside = box.checked;
        draw();
      } } });
      const without = el("label", { class: "bot-att-switch" }, box, BOT.say(el("span"), "panel.attention.aside"));
      const reasons = el("p", { class: "bot-note bot-note-info bot-att-reasons" });
      const content = el("div", { class: "bot-att-content" },
        chips.node, without, reasons, el("div", { class: "bot-att-two" }, map.node, keys.node));
      const bar = BOT.attention.bar({ ctx, apply, stale: (on) => content.classList.toggle("is-stale", on) });
      const counting = BOT.say(el("p", { class: "bot-hint" }), "panel.attention.counting");
      const seen = el("div", { class: "bot-att" }, all.node, content, counting);
      body.append(bar.node, seen);

      const now = () => ({ data, found, i: ctx.i, at: BOT.attention.answering(data, ctx.i), position: bar.position(), aside });

      function draw() {
        if (!found) return;
        map.draw(now()); // canvases first: they read styles, which what is written to nodes makes stale
        chips.draw(now());
        keys.draw(now());
      }

      function apply(head) {
        found = head;
        content.hidden = !head;
        draw();
      }

      function why() {
        BOT.setText(reasons, BOT.t("panel.attention.reasons", { layers: BOT.num(data.model.n_layers), heads: BOT.num(data.model.n_heads) }));
      }

      return {
        inside(next) {
          data = next;
          bar.inside(data);
          seen.hidden = !data.heads;
          if (!data.heads) return;
          chips.inside(data);
          why();
        },
        step() {
          if (data.heads) {
            all.draw(now());
            draw();
          }
          bar.step();
        },
        focus() {
          if (data.heads) all.mark();
          bar.focus();
        },
        lang() {
          bar.lang();
          if (!data || !data.heads) return;
          all.draw(now());
          why();
          draw();
          map.redraw();
        },
      };
    },
  });
})();

/* q, k, v: what one position asks, offers and hands over in one head, and how query and key made the
 * weight of one of its looks back.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  BOT.insidePanel({
    id: "qkv", stage: 3, deck: "inside",
    mount(body, ctx) {
      let data = null;
      let found = null;
      const share = BOT.qkv.share(ctx);
      const vectors = BOT.qkv.vectors();
      const dot = BOT.qkv.dot();
      const content = el("div", { class: "bot-att" }, share.node, vectors.node, dot.node,
        BOT.say(el("p", { class: "bot-hint" }), "panel.attention.counting"));
      const bar = BOT.attention.bar({ ctx, apply, stale: (on) => content.classList.toggle("is-stale", on) });
      body.append(bar.node, content);

      function draw() {
        if (!found) return;
        const now = { data, found, position: bar.position() };
        share.draw(found.kv);
        vectors.draw(now);
        dot.draw(now);
      }

      function apply(head) {
        found = head;
        content.hidden = !head;
        draw();
      }

      return {
        inside(next) {
          data = next;
          share.inside(data);
          dot.inside();
          bar.inside(data);
        },
        step() {
          bar.step();
          if (ctx.focus.query === null) draw();
        },
        focus: bar.focus,
        lang() {
          bar.lang();
          draw();
        },
      };
    },
  });
})();

/* The residual stream: what each layer wrote into it, and how these writes add up to the logit. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  BOT.insidePanel({
    id: "residual", stage: 3, deck: "inside",
    mount(body, ctx) {
      const now = BOT.answering();
      const river = BOT.residualRiver({ pick: (layer) => ctx.setFocus({ layer }) });
      const sum = BOT.residualSum({ pick: (layer) => ctx.setFocus({ layer }) });
      const votes = BOT.residualVotes({ pick: (layer, head) => ctx.setFocus(head === null ? { layer } : { layer, head }) });
      const frozen = el("p", { class: "bot-facts-line" });
      const absent = el("p", { class: "bot-note bot-note-info", hidden: true });
      const logit = el("div", { class: "bot-res-logit" }, frozen, sum.node, votes.node);
      const all = el("div", { class: "bot-res" }, river.node, absent, logit);
      body.append(now.node, all);

      function words() {
        const { data } = ctx;
        logit.hidden = !data.attribution;
        absent.hidden = !!data.attribution || !data.stream.attn_norms; // else the river has said why
        if (!data.attribution) BOT.setText(absent, BOT.inside.missing(data, "writes") || BOT.t("panel.residual.no_sum"));
        BOT.setText(frozen, BOT.t(data.attribution && data.model.norm === "LayerNorm" ? "panel.residual.frozen_layer" : "panel.residual.frozen_rms"));
      }

      return {
        inside(data) {
          words();
          river.inside(data);
          if (data.attribution) {
            sum.inside(data);
            votes.inside(data);
          }
        },
        step(i) {
          now.show(ctx.data, i);
          all.classList.toggle("is-before", i < 0); // nothing has flowed yet
          river.step(i);
          if (!ctx.data.attribution) return;
          sum.step(i);
          votes.step(i);
        },
        focus(focus) {
          river.mark(focus.layer);
          if (ctx.data.attribution) votes.focus(focus);
        },
        lang() {
          words();
          now.show(ctx.data, ctx.i);
          river.lang();
          if (!ctx.data.attribution) return;
          sum.lang();
          votes.lang();
        },
      };
    },
  });
})();

/* The byte ledger: a text from its characters down to the ids, as one picture and one table. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  // Control texts that are not bracketed are rare; for them the reader asks by the switch.
  const BRACKET = /[<[{◁]/;

  BOT.labPanel({
    id: "ledger", stage: 2, deck: "pieces",
    mount(body, ctx) {
      let plain = null; // the two ledgers of the text at hand, as the server gives them
      let injected = null;
      let source = null; // of what is shown
      let shown = null;

      const control = BOT.ledgerControl(flip);
      const notes = BOT.ledgerNotes();
      const picture = BOT.ledgerPicture({ pick });
      const more = el("p", { class: "bot-hint" });
      const legend = BOT.ledgerLegend();
      const table = BOT.ledgerTable(pick);
      const none = BOT.say(el("p", { class: "bot-note bot-note-info", hidden: true }), "ui.lab.empty");
      const all = el("div", { class: "bot-ledger", hidden: true }, notes.above, picture.node, more, legend.node, control.node, table.node);
      body.append(none, all);

      function pick(p) {
        picture.mark(p);
        table.mark(p);
      }

      function words() {
        if (!shown) return;
        notes.draw(shown);
        legend.draw(shown);
        control.draw(plain, injected);
        const n = picture.lines;
        BOT.setText(more, [BOT.t("panel.ledger.keys"), n > 3 ? BOT.t("panel.ledger.virtual", { lines: BOT.num(n) }) : ""].filter(Boolean).join(BOT.state.lang === "zh" ? "" : " "));
      }

      function show() {
        const wanted = control.on ? injected : plain;
        if (!wanted) return control.draw(plain, injected);
        all.hidden = false;
        if (wanted !== source) {
          source = wanted;
          shown = BOT.ledgerModel(source);
          picture.set(shown);
          table.set(shown);
        }
        words();
      }

      function askPlain() {
        ctx.take("ledger", { control: false }, (data) => {
          plain = data;
          show();
        }, "plain");
      }
      function askInjected() {
        ctx.take("ledger", { control: true }, (data) => {
          injected = data;
          show();
        }, "injected");
      }
      function flip() {
        if (control.on && !injected && ctx.lab.text) askInjected();
        show();
      }

      return {
        draw({ text }) {
          plain = injected = null;
          none.hidden = text !== "";
          if (text === "") {
            source = shown = null;
            all.hidden = true;
            return;
          }
          askPlain();
          if (control.on || BRACKET.test(text)) askInjected();
        },
        lang() {
          picture.lang();
          table.lang();
          words();
        },
      };
    },
  });
})();

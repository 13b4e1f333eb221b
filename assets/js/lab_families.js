/* One question in every family's template, and what becomes of it under the wrong one. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const NAMES = ["own", ...BOT.forms];
  const THINKING = { auto: null, on: true, off: false };
  // Control text that is not bracketed is rare; the answer's notes tell of it.
  const NOTE = "note.control_text";
  const MOST = 1000; // characters of the question that are put into the templates

  BOT.labPanel({
    id: "families", stage: 1, deck: "template",
    mount(body, ctx) {
      let plain = null; // the forms with typed control text as text, and as the tokens it names
      let taken = null;
      let chosen = "own";
      let many = false;
      let injected = false;

      const system = el("input", { class: "bot-letters-field bot-form-system", id: "bot-form-system", type: "text", maxlength: 2000, dir: "auto", autocomplete: "off", on: { input: later } });
      BOT.say(system, "panel.families.system_hint", "placeholder");
      const thinking = el("select", { class: "bot-lab-list", id: "bot-form-thinking", on: { change: ask } }, Object.keys(THINKING).map((name) => BOT.say(el("option", { value: name }), `panel.families.thinking.${name}`)));
      const flip = (key, on) => {
        const box = el("input", { type: "checkbox", on: { change: () => on(box.checked) } });
        return el("label", { class: "bot-gate-auto" }, box, " ", BOT.say(el("span"), key));
      };
      const turns = flip("panel.families.turns", (on) => { many = on; ask(); });
      const options = el("div", { class: "bot-form-options" },
        el("div", { class: "bot-form-option is-wide" }, BOT.say(el("label", { class: "bot-label", for: system.id }), "panel.families.system"), system),
        el("div", { class: "bot-form-option" }, BOT.say(el("label", { class: "bot-label", for: thinking.id }), "panel.families.thinking"), thinking), turns);
      const none = BOT.say(el("p", { class: "bot-note bot-note-info", hidden: true }), "ui.lab.empty");
      const long = el("p", { class: "bot-note bot-note-info", hidden: true });
      const cards = NAMES.map((name) => BOT.formCard({ name, pick: () => choose(name) }));
      const tabs = NAMES.map((name) => BOT.say(el("button", { type: "button", on: { click: () => choose(name) } }), `panel.families.form.${name}`));
      const legend = BOT.say(el("p", { class: "bot-form-legend" }), "panel.template.legend", "aria-label");
      const control = BOT.formControl((on) => { injected = on; show(); });
      const wrong = BOT.wrongTemplate({ question: () => ({ prompt: question(), system: system.value }), same, pick: choose });
      const all = el("div", { class: "bot-forms", hidden: true },
        BOT.say(el("div", { class: "bot-tabs bot-form-tabs", role: "group" }, tabs), "panel.families.list", "aria-label"), legend, control.node,
        el("div", { class: "bot-form-grid" }, cards.map((c) => c.node)));
      body.append(options, none, long, all, wrong.node);

      let timer = 0;
      function later() {
        clearTimeout(timer);
        timer = setTimeout(ask, 250);
      }

      /** The text above, or its beginning: the templates are what is looked at. */
      function question() {
        const { text } = ctx.lab;
        return text.length > MOST ? [...text].slice(0, MOST).join("") : text;
      }

      function messages() {
        const before = many ? [{ role: "user", content: BOT.t("panel.families.turn_user") }, { role: "assistant", content: BOT.t("panel.families.turn_assistant") }] : [];
        const told = system.value.trim() ? [{ role: "system", content: system.value }] : [];
        return [...told, ...before, { role: "user", content: question() }];
      }

      function ask() {
        clearTimeout(timer);
        const { text } = ctx.lab;
        none.hidden = text.trim() !== "";
        long.hidden = question().length === text.length;
        BOT.setText(long, BOT.t("panel.families.long", { n: BOT.num(MOST) }));
        wrong.draw();
        if (!text.trim()) {
          all.hidden = true;
          return;
        }
        const fields = { messages: messages(), thinking: THINKING[thinking.value] };
        ctx.take("templates", { ...fields, control: false }, ({ forms }) => {
          plain = forms;
          taken = null;
          const flagged = flags().length > 0;
          if (!flagged) injected = false;
          show();
          if (flagged) ctx.take("templates", { ...fields, control: true }, (found) => {
            taken = found.forms;
            show();
          }, "taken");
        }, "plain");
      }

      /** The control texts that were typed. */
      function flags() {
        const notes = plain.flatMap((form) => form.notes).filter(([key]) => key === NOTE);
        return [...new Set(notes.flatMap(([, values]) => String(values.texts).split(" ")))];
      }

      function show() {
        if (!plain) return;
        all.hidden = false;
        const forms = injected && taken ? taken : plain;
        const flagged = flags();
        cards.forEach((card) => card.set(forms.find((form) => form.name === card.name), flagged));
        control.set(flagged, plain.find((f) => f.name === "own"), taken && taken.find((f) => f.name === "own"), injected);
        marks(forms);
        choose(chosen);
      }

      /** The legend: only what occurs in one of the templates. */
      function marks(forms) {
        const sources = new Set(forms.flatMap((form) => form.tokens.filter((t) => !t.special).map((t) => t.source)));
        const key = (node, text) => el("span", null, node, " ", text);
        legend.replaceChildren(
          ...["template", "system", "user", "assistant", "thinking"].filter((s) => sources.has(s)).map((s) => key(el("span", { class: "bot-part", "data-source": s }, "Abc"), BOT.sourceName(s))),
          key(el("span", { class: "bot-special", "data-source": "template" }, "‹›"), BOT.sourceName("special")),
          key(el("span", { class: "bot-form-opens" }, el("span", { class: "bot-part", "data-source": "template" }, "Abc")), BOT.t("panel.families.opens")),
          ...(flags().length ? [key(el("mark", { class: "bot-form-flag" }, "‹›"), BOT.t("panel.families.flag"))] : []));
      }

      /** Whether that template writes what the model's own does, token by token. */
      function same(name) {
        const of = (form) => plain && plain.find((f) => f.name === form);
        const [own, other] = [of("own"), of(name)];
        return Boolean(own && other && !many && !own.error && !other.error) && own.tokens.map((t) => t.id).join() === other.tokens.map((t) => t.id).join();
      }

      function choose(name) {
        chosen = name;
        cards.forEach((card) => card.choose(card.name === name));
        tabs.forEach((tab, k) => BOT.setAttr(tab, "aria-pressed", NAMES[k] === name));
        if (name !== "own") wrong.choose(name);
      }

      return {
        draw() {
          ask();
          wrong.begin();
        },
        lang() {
          if (many) ask(); // the sample turns of that language
          BOT.setText(long, BOT.t("panel.families.long", { n: BOT.num(MOST) }));
          show();
          wrong.draw();
        },
      };
    },
  });
})();

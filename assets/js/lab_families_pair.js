/* The wrong template: one question asked of the model under its own template and under another one. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const SHOWN = 10; // candidates drawn; all are in the table
  const NEXT = ["token", "id", "p_a", "rank_a", "p_b", "rank_b"].map((name, k) => ({ key: `panel.contrast.col.${name}`, class: k ? "bot-n" : null }));
  const nameOf = (form) => (form === null || BOT.forms.includes(form) ? BOT.t(`panel.families.form.${form || "own"}`) : BOT.visibleText(form));

  BOT.forms = ["chatml", "llama3", "llama2", "gemma", "phi3", "plain", "none"];

  /** wrongTemplate({question() -> {prompt, system}, same(form)}) -> {node, choose(form), draw(), begin()}.
   *  same(form): the other template is known to write what the model's own does. */
  BOT.wrongTemplate = ({ question, same, pick }) => {
    let form = "plain";
    let pair = null;
    let began = false;

    const list = el("select", { class: "bot-lab-list", id: "bot-wrong-form", on: { change: () => pick(list.value) } }, BOT.forms.map((name) => BOT.say(el("option", { value: name }), `panel.families.form.${name}`)));
    list.value = form;
    const asking = BOT.asking({ go: "panel.families.go", apply: show, ask() {
      const { prompt, system } = question();
      if (same(form) || !prompt.trim()) return null;
      const both = { prompt, system };
      return { op: "pair", mode: "chat", a: { ...both, form: null }, b: { ...both, form } };
    } });
    const equal = BOT.say(el("p", { class: "bot-note bot-note-info", hidden: true }), "panel.families.equal");
    const damaged = BOT.say(el("p", { class: "bot-note bot-note-warn", hidden: true }), "panel.contrast.damaged");
    const what = el("p", { class: "bot-hint" });
    const side = (letter) => {
      const name = el("p", { class: "bot-wrong-name" });
      const text = el("div", { class: "bot-form-text", dir: "auto", tabindex: 0, role: "region" });
      const answer = el("p", { class: "bot-wrong-answer" });
      const end = el("span", { class: "bot-muted bot-hint" });
      return { name, text, answer, end, node: el("div", { class: `bot-pair-side is-${letter}` }, el("span", { class: "bot-pair-letter", "aria-hidden": "true" }, letter.toUpperCase()),
        el("div", { class: "bot-wrong-side" }, name, text, BOT.say(el("p", { class: "bot-label" }), "panel.letters.answer"), answer, end)) };
    };
    const sides = { a: side("a"), b: side("b") };
    const story = el("p", { class: "bot-wrong-story" });
    const duo = BOT.duo({ label: "panel.contrast.next", first: "panel.families.in_a", second: "panel.families.in_b" });
    const table = BOT.fold({ label: "panel.contrast.table_next", columns: NEXT, rows });
    const from = el("p", { class: "bot-facts-line" });
    const result = el("div", { class: "bot-wrong-result", hidden: true }, damaged, what,
      el("div", { class: "bot-pair-sides" }, sides.a.node, sides.b.node), story,
      BOT.say(el("h5", { class: "bot-wrong-head" }), "panel.families.next"), duo.node, table.node, from);
    const node = el("section", { class: "bot-wrong" },
      BOT.say(el("h4", { class: "bot-wrong-title" }), "panel.families.wrong"), BOT.say(el("p", { class: "bot-hint" }), "panel.families.wrong_why"),
      el("div", { class: "bot-wrong-row" }, BOT.say(el("label", { class: "bot-label", for: list.id }), "panel.families.other"), list, asking.node), equal, result);

    function show(found) {
      pair = found;
      result.hidden = false;
      draw();
    }

    /** The answer's tokens; those from where the two part on are marked. */
    function answer(place, tokens, parting) {
      place.replaceChildren(...tokens.map((t, k) => el("span", { class: `bot-pair-token${t.special ? " is-special" : ""}${k === parting ? " is-differing" : ""}`, title: BOT.t("panel.families.answer_token", { k: k + 1, id: t.id }) },
        BOT.piece(t.hex).text === null ? BOT.tokenOrNone(t.hex) : BOT.oneLine(BOT.piece(t.hex).text),
        k === parting ? el("span", { class: "bot-pair-sign", "aria-hidden": "true" }) : null)));
    }

    function parting() {
      const [a, b] = [pair.a.answer, pair.b.answer];
      const n = Math.min(a.length, b.length);
      for (let k = 0; k < n; k++) if (a[k].id !== b[k].id) return k;
      return a.length === b.length ? null : n;
    }

    function candidates() {
      const { ids, a, b, rank_a: ra, rank_b: rb } = pair.next;
      const special = new Set(pair.special);
      return Array.from(ids.data, (id, k) => {
        const by = ["a", "b"].filter((name) => pair[name].answer[0].id === id).map((name) => name.toUpperCase());
        return { id, hex: pair.pieces[id], special: special.has(id), a: a.data[k], b: b.data[k], rankA: ra.data[k], rankB: rb.data[k],
          mark: by.length > 0, note: by.length ? BOT.t("panel.contrast.chosen", { side: by.join(" + ") }) : "" };
      });
    }

    function draw() {
      asking.draw();
      equal.hidden = !same(form);
      if (!pair) return;
      damaged.hidden = pair.intact;
      const iso = (text) => `\u2068${BOT.marks(text.replaceAll("\n", "↵"), true).map((run) => run[1]).join("")}\u2069`;
      BOT.setText(what, BOT.t(pair.a.system ? "panel.families.asked_system" : "panel.families.asked", { question: iso(pair.a.asked), system: iso(pair.a.system) }));
      const at = parting();
      for (const name of ["a", "b"]) {
        const one = pair[name];
        BOT.setText(sides[name].name, nameOf(one.form));
        BOT.formStream(sides[name].text, one.prompt);
        answer(sides[name].answer, one.answer, at);
        BOT.setText(sides[name].end, BOT.t(one.finish === "eos" ? "panel.contrast.ended" : "panel.contrast.cut", { n: one.answer.length }));
      }
      BOT.setText(story, at === null ? BOT.t("panel.families.part_never") : BOT.t("panel.families.part", { n: at + 1 }));
      duo.set(candidates().slice(0, SHOWN));
      table.draw();
      BOT.setText(from, BOT.t(pair.recorded ? "panel.families.recorded" : "panel.families.answered", { model: pair.model.name }));
    }

    function rows() {
      if (!pair) return [];
      return candidates().map((c) => [{ hex: c.hex }, String(c.id), { text: BOT.prob(c.a), title: BOT.exact(c.a, true) }, BOT.num(c.rankA), { text: BOT.prob(c.b), title: BOT.exact(c.b, true) }, BOT.num(c.rankB)]);
    }

    return {
      node, draw,
      choose(name) {
        form = name;
        list.value = name;
        equal.hidden = !same(form);
      },
      /** What was recorded needs no model; once. */
      begin() {
        const [recorded] = window.BOT_FORM_PAIRS || [];
        if (began || !recorded) return;
        began = true;
        asking.ask({ op: "pair", name: recorded.name });
      },
    };
  };
})();

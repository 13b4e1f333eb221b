/* What the panels of the tokenizer laboratory share at their top: the text, examples, vocabularies. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, lab } = BOT;
  const SETTLE_MS = 250;
  const TALLEST = 220; // px of the text area, which scrolls then
  const EXAMPLES = ["strawberry", " strawberry", "人工智能", "程序员Left", "电",
    "👩\u200d👩\u200d👧\u200d👦", "e\u0301"];
  const utf8 = new TextEncoder();

  /** An example as it is written: what can not be seen as its escape. */
  const label = (text) => (text === "e\u0301" ? "e\\u0301" : text.replace(/^ /, "·"));

  /** labInput(id, {text, model, models}) -> {node, draw()}: which of the three; by default text and
   *  model. All of them show and change the one BOT.lab. */
  BOT.labInput = (id, { text = true, model = true, models = false } = {}) => {
    const parts = { text: text && words(id), model: model && choice(id), models: models && choices() };
    const shown = Object.values(parts).filter(Boolean);
    return {
      node: el("div", { class: "bot-lab-bar" }, shown.map((part) => part.node)),
      draw: () => shown.forEach((part) => part.draw()),
    };
  };

  function words(id) {
    let timer = 0;
    const area = el("textarea", { class: "bot-lab-text", id: `bot-lab-text-${id}`, rows: 1, dir: "auto", spellcheck: "false",
      autocapitalize: "off", autocomplete: "off", on: { input: typing, compositionend: typing, blur: settle } });
    const counts = el("span", { class: "bot-muted bot-lab-counts" });
    const chips = EXAMPLES.map((example) => ({ example, node: el("button", { class: "bot-chip", type: "button", on: { click: () => put(example) } }, el("bdi", null, label(example))) }));
    const own = BOT.say(el("button", { class: "bot-chip", type: "button", on: { click: () => put(null) } }), "ui.lab.question");
    const node = el("div", { class: "bot-lab-words" },
      el("div", { class: "bot-lab-head" }, BOT.say(el("label", { class: "bot-label", for: area.id }), "ui.lab.text"), counts),
      area,
      BOT.say(el("div", { class: "bot-lab-chips", role: "group" }, BOT.say(el("span", { class: "bot-label" }), "ui.lab.examples"), chips.map((c) => c.node), own), "ui.lab.examples", "aria-label"));

    function typing(event) {
      grow();
      count();
      clearTimeout(timer);
      // Half a Chinese word is not a text yet.
      if (!event.isComposing) timer = setTimeout(settle, SETTLE_MS);
    }
    function settle() {
      clearTimeout(timer);
      timer = 0;
      if (area.value !== lab.text) lab.setText(area.value);
    }
    function put(text) {
      clearTimeout(timer);
      timer = 0;
      lab.setText(text);
      area.value = lab.text;
      draw();
    }
    function grow() {
      area.style.height = "auto";
      const tall = area.scrollHeight + 2;
      if (tall > 2) area.style.height = `${Math.min(tall, TALLEST)}px`;
    }
    function count() {
      const n = [...area.value].length;
      BOT.setText(counts, BOT.t("ui.lab.counts", { n, characters: BOT.num(n), bytes: BOT.num(utf8.encode(area.value).length) }));
    }
    function draw() {
      // What is being typed is the reader's; it becomes the lab's text in a moment.
      if (!timer && area.value !== lab.text && !(document.activeElement === area && composing(area))) area.value = lab.text;
      grow();
      count();
      for (const { example, node: chip } of chips) BOT.setAttr(chip, "aria-pressed", !lab.follows && lab.text === example);
      BOT.setAttr(own, "aria-pressed", lab.follows);
      own.hidden = !BOT.state.trace;
    }
    area.addEventListener("compositionstart", () => { area.dataset.composing = "1"; });
    area.addEventListener("compositionend", () => { delete area.dataset.composing; });
    const composing = (box) => box.dataset.composing === "1";
    return { node, draw };
  }

  function choice(id) {
    const list = el("select", { class: "bot-lab-list", id: `bot-lab-model-${id}`, on: { change: () => lab.setModel(list.value) } });
    const node = el("div", { class: "bot-lab-model" }, BOT.say(el("label", { class: "bot-label", for: list.id }), "ui.lab.model"), list);
    return {
      node,
      draw() {
        const rows = lab.tokenizers;
        while (list.options.length > rows.length) list.lastChild.remove();
        rows.forEach(({ name, size }, k) => {
          const option = list.options[k] || list.appendChild(el("option"));
          option.value = name;
          BOT.setText(option, size ? BOT.t("ui.lab.model_option", { name, n: BOT.num(size) }) : name);
        });
        if (lab.model !== null) list.value = lab.model;
      },
    };
  }

  function choices() {
    const box = el("div", { class: "bot-lab-chips", role: "group" });
    BOT.say(box, "ui.lab.models", "aria-label");
    const hint = el("span", { class: "bot-hint" });
    const node = el("div", { class: "bot-lab-models" }, el("div", { class: "bot-lab-head" }, BOT.say(el("span", { class: "bot-label" }), "ui.lab.models"), hint), box);
    const chips = new Map();

    function flip(name) {
      const now = lab.models;
      const next = now.includes(name) ? now.filter((n) => n !== name) : [...now, name];
      if (next.length && next.length <= lab.most) lab.setModels(next);
    }
    return {
      node,
      draw() {
        BOT.setText(hint, BOT.t("ui.lab.models_hint", { n: lab.most }));
        const chosen = lab.models;
        for (const name of [...lab.tokenizers.map((t) => t.name), ...lab.encodings]) {
          if (!chips.has(name)) {
            chips.set(name, el("button", { class: "bot-chip", type: "button", on: { click: () => flip(name) } }, name));
            box.append(chips.get(name));
          }
          const on = chosen.includes(name);
          BOT.setAttr(chips.get(name), "aria-pressed", on);
          BOT.setAttr(chips.get(name), "aria-disabled", (on ? chosen.length === 1 : chosen.length === lab.most) ? "true" : null);
        }
      },
    };
  }
})();

/* Several panels in one place, one of them shown: a chapter of the page with tabs. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const SETTING = "bot.tabs";
  const HOLD_MS = 2000;

  /** Where each chapter stands among the panels, by stage; after those of the same stage. */
  const CHAPTERS = { template: 1, pieces: 2, inside: 3, cost: 5, lab: 7 };
  const SIGNS = { template: "1", pieces: "2", inside: "3", cost: "5", lab: "?" };

  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem(SETTING)) || {};
  } catch { /* nothing is remembered, or nothing may be */ }

  const keep = (chapter, id) => {
    kept = { ...kept, [chapter]: id };
    try {
      localStorage.setItem(SETTING, JSON.stringify(kept));
    } catch { /* as above */ }
  };

  const chapters = new Map();
  BOT.chapterStage = (name) => CHAPTERS[name];

  /** The chapter `name`: {element, add(id, section)}. */
  BOT.chapter = (name) => {
    if (chapters.has(name)) return chapters.get(name);
    const tabs = el("div", { class: "bot-tabs bot-chapter-tabs", role: "tablist", on: { keydown } });
    BOT.say(tabs, `deck.${name}.title`, "aria-label");
    const element = el("section", { class: `bot-chapter bot-chapter-${name}`, id: `bot-chapter-${name}`, "aria-labelledby": `bot-chapter-title-${name}` },
      el("header", { class: "bot-panel-head" },
        el("span", { class: "bot-numeral", "aria-hidden": "true" }, SIGNS[name]),
        BOT.say(el("h2", { class: "bot-title", id: `bot-chapter-title-${name}` }), `deck.${name}.title`),
        BOT.say(el("p", { class: "bot-why" }), `deck.${name}.why`)),
      tabs);
    const pages = []; // {id, tab, section}
    let at = null;

    function choose(id, byReader) {
      at = id;
      for (const page of pages) {
        const on = page.id === id;
        page.section.hidden = !on;
        BOT.setAttr(page.tab, "aria-selected", on);
        BOT.setAttr(page.tab, "tabindex", on ? 0 : -1);
      }
      if (byReader) keep(name, id);
      BOT.schedule();
    }

    function keydown(event) {
      const k = pages.findIndex((page) => page.id === at);
      const to = { ArrowRight: k + 1, ArrowLeft: k - 1, Home: 0, End: pages.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const page = pages[(to + pages.length) % pages.length];
      choose(page.id, true);
      page.tab.focus();
    }

    const made = {
      element,
      add(id, section) {
        const tab = BOT.say(el("button", { type: "button", role: "tab", id: `bot-tab-${id}`, "aria-controls": section.id, on: { click: () => choose(id, true) } }), `panel.${id}.tab`);
        BOT.setAttr(section, "role", "tabpanel");
        pages.push({ id, tab, section });
        tabs.append(tab);
        element.append(section);
        choose(pages.some((page) => page.id === kept[name]) ? kept[name] : pages[0].id, false);
      },
      choose(id) {
        if (pages.some((page) => page.id === id)) choose(id, true);
      },
    };
    chapters.set(name, made);
    return made;
  };

  /** What comes on screen on the way to a panel is drawn then, grows, and would push the panel away
   *  again: for a moment it is brought back, unless the reader moves the page. */
  let release = () => {};
  function hold(panel) {
    release();
    const moves = ["wheel", "touchstart", "pointerdown", "keydown"];
    let known = false; // the first word of the observer is no news
    const grown = new ResizeObserver(() => {
      if (known) panel.scrollIntoView({ behavior: "auto", block: "start" });
      known = true;
    });
    const done = () => {
      grown.disconnect();
      clearTimeout(timer);
      for (const name of moves) removeEventListener(name, done);
    };
    const timer = setTimeout(done, HOLD_MS);
    for (const name of moves) addEventListener(name, done, { passive: true });
    grown.observe(panel.closest(".bot-grid"));
    release = done;
  }

  /** Open the tab that holds panel `id`, if there is one, and bring it on screen. */
  BOT.visit = (id) => {
    for (const chapter of chapters.values()) chapter.choose(id);
    const panel = document.getElementById(`bot-panel-${id}`);
    if (!panel) return;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    panel.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "start" });
    panel.focus({ preventScroll: true });
    hold(panel);
  };
})();

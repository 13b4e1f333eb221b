/* What the reader must be told beside the run itself: the model's state, errors, notes about the
 * prompt, a file that was changed; and the way to the recorded runs. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, state } = BOT;
  const MOST = 4;
  const ICONS = { bad: "✕", warn: "!", info: "i" };

  let list = null;
  let banners = []; // {kind, text: () => string, node}

  function dismiss(banner) {
    banners = banners.filter((b) => b !== banner);
    banner.node.remove();
  }

  /** Tell the reader something; `text()` gives it in the page's language, as plain text. */
  BOT.banner = (kind, text, name = "") => {
    const same = banners.find((b) => b.kind === kind && b.text() === text());
    if (same) return;
    const close = el("button", { class: "bot-btn bot-btn-quiet", type: "button",
      "aria-label": BOT.t("ui.dismiss"), on: { click: () => dismiss(banner) } }, "×");
    const banner = { kind, text, name, close };
    banner.words = el("p", { dir: "auto" }, text());
    banner.node = el("div", { class: `bot-note bot-note-${kind}`, role: kind === "bad" ? "alert" : null },
      el("span", { class: "bot-note-icon", "aria-hidden": "true" }, ICONS[kind]), banner.words, close);
    banners.push(banner);
    while (banners.length > MOST) dismiss(banners[0]);
    if (list) list.append(banner.node);
  };

  BOT.clearBanners = () => [...banners].forEach(dismiss);

  const OVER = new Set(["error.model_not_ready", "error.model_busy"]);
  BOT.on("status", (status) => {
    if (status.state === "ready") banners.filter((b) => OVER.has(b.name)).forEach(dismiss);
  });

  BOT.on("trace", (trace) => {
    [...banners].filter((b) => b.name === "trace").forEach(dismiss);
    if (trace.intact === false) BOT.banner("bad", () => BOT.t("ui.not_intact"), "trace");
  });

  BOT.bar({
    class: "bot-banners",
    mount(body) {
      body.setAttribute("aria-live", "polite");
      list = body;
      for (const banner of banners) list.append(banner.node);
      return {
        lang() {
          for (const banner of banners) {
            BOT.setText(banner.words, banner.text());
            BOT.setAttr(banner.close, "aria-label", BOT.t("ui.dismiss"));
          }
        },
        step() {},
      };
    },
  });

  /* ---- the model's state and the recorded runs ---- */

  const STATES = { idle: "ui.model.idle", loading: "ui.model.loading", ready: "ui.model.ready", failed: "ui.model.failed", away: "ui.model.away" };
  const STAGES = { import: "ui.model.import", download: "ui.model.download", verify: "ui.model.verify", convert: "ui.model.convert", read: "ui.model.read", place: "ui.model.place" };

  function facts(info) {
    return [BOT.t("ui.model.weights", { n: BOT.num(info.n_params) }), info.device, info.dtype];
  }

  BOT.bar({
    class: "bot-top",
    mount(body) {
      const dot = el("span", { class: "bot-dot", "aria-hidden": "true" });
      const name = el("bdi", { class: "bot-model-name" });
      const words = el("span", { class: "bot-model-facts" });
      const meter = el("progress", { class: "bot-progress", max: 1 });
      const model = el("div", { class: "bot-model", role: "status" }, dot, name, words, meter);
      const links = el("nav", { class: "bot-examples" },
        BOT.say(el("span", { class: "bot-label" }), "ui.examples"));
      const items = (window.BOT_EXAMPLES || []).map((example) => {
        const link = el("a", { class: "bot-chip", href: `?trace=${encodeURIComponent(example.name)}`, on: {
          click(event) {
            if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
            event.preventDefault();
            BOT.example(example.name);
          },
        } });
        links.append(link);
        return { example, link };
      });
      body.append(model, links);
      links.hidden = items.length === 0;

      function status() {
        const now = state.status;
        model.hidden = !now;
        if (!now) return;
        model.dataset.state = now.state;
        const info = now.info;
        BOT.setText(name, now.state === "ready" && info ? info.name : now.name || "");
        const parts = [BOT.t(STATES[now.state] || "ui.model.idle")];
        if (now.state === "loading" && STAGES[now.stage]) parts.push(BOT.t(STAGES[now.stage]));
        if (now.state === "loading" && now.fraction !== null) parts.push(`${Math.round(100 * now.fraction)}%`);
        if (now.state === "ready" && info) parts.push(...facts(info));
        if (now.state === "failed" && now.error) parts.push(BOT.pick(now.error));
        if (now.state !== "ready" && now.state !== "away" && info) parts.push(BOT.t("ui.model.meanwhile", { name: info.name }));
        BOT.setText(words, parts.join(" · "));
        meter.hidden = now.state !== "loading";
        if (now.fraction === null || now.fraction === undefined) meter.removeAttribute("value");
        else meter.value = now.fraction;
      }

      function marks() {
        for (const { example, link } of items) {
          BOT.setText(link, BOT.pick(example.title));
          BOT.setAttr(link, "aria-current", state.example === example.name ? "true" : null);
        }
      }

      status();
      marks();
      BOT.on("status", status);
      BOT.on("example", marks);
      BOT.on("leave", () => {
        state.example = null;
        marks();
      });
      return {
        lang() {
          status();
          marks();
        },
        step() {},
      };
    },
  });
})();

/* A panel of the tokenizer laboratory: the shared input on top, how far an answer is, what failed. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, lab } = BOT;
  const PATIENCE_MS = 300; // what comes sooner needs no word about waiting

  /** One line: what is under way, or what went wrong and the way to try again. */
  function line(again) {
    const says = el("span", { class: "bot-lab-says" });
    const retry = BOT.say(el("button", { class: "bot-btn", type: "button", on: { click: again } }), "ui.lab.retry");
    const meter = el("progress", { class: "bot-progress" });
    const node = el("div", { class: "bot-lab-line", role: "status", hidden: true }, meter, says, retry);
    return {
      node,
      draw({ problem, waiting, told, older }) {
        node.hidden = !problem && !waiting;
        if (node.hidden) return;
        meter.hidden = Boolean(problem);
        retry.hidden = !problem;
        node.classList.toggle("is-bad", Boolean(problem));
        const how = told ? BOT.workSays(told) : BOT.t("ui.lab.asking");
        const what = problem ? BOT.pick(problem.text) || BOT.t("ui.lab.failed") : how;
        BOT.setText(says, older ? `${what} · ${BOT.t("ui.lab.older")}` : what);
      },
    };
  }

  /** labPanel({id, stage, deck, input: {text, model, models}, mount(body, ctx) -> {draw(lab), lang, …}}).
   *  draw: the text or the vocabulary is another; called while the panel is on screen. It asks with
   *  ctx.take(op, fields, apply(answer), slot): waiting and errors are told here, an older answer never
   *  replaces a newer one of the same slot (by default, op). Or it gives a promise, which is followed
   *  in the same way. input: what of the three is shared; by default text and model. lang may come
   *  before the first answer. The rest (trace, append, end, step, refresh) is as with BOT.panel. */
  BOT.labPanel = (def) => BOT.panel({
    ...def,
    mount(body, base) {
      const bar = BOT.labInput(def.id, def.input);
      const how = line(again);
      const content = el("div", { class: "bot-lab" });
      body.append(bar.node, how.node, content);
      const seen = { version: -1, names: null };
      const pending = new Map(); // promise -> {since, told()}
      const takes = new Map(); // slot -> the newest promise
      let problem = null;
      let drawn = false; // there is something below
      let timer = 0;

      function says() {
        const now = performance.now();
        const slow = [...pending.values()].find((p) => now - p.since >= PATIENCE_MS);
        how.draw({ problem, waiting: Boolean(slow), told: slow && slow.told(), older: drawn });
        BOT.setAttr(content, "aria-busy", slow ? "true" : null);
        content.classList.toggle("is-older", Boolean(slow || problem));
      }

      /** Tell of a promise's waiting and failing until it is over or replaced. */
      function follow(promise, told = () => null) {
        pending.set(promise, { since: performance.now(), told });
        clearTimeout(timer);
        timer = setTimeout(says, PATIENCE_MS);
        const over = () => pending.delete(promise);
        return promise.then((value) => {
          if (over()) says();
          return value;
        }, (error) => {
          if (over() && !(error instanceof BOT.Halted)) problem = error;
          says();
          throw error;
        });
      }

      function take(op, fields, apply, slot = op) {
        const promise = lab.ask(op, fields);
        pending.delete(takes.get(slot));
        takes.set(slot, promise);
        problem = null;
        follow(promise, () => lab.told(op, fields)).then((value) => {
          if (takes.get(slot) !== promise) return;
          drawn = true;
          apply(value);
        }).catch((error) => {
          if (!(error instanceof BOT.Halted) && !("text" in error)) console.error(error); // ours, not the server's
        });
      }

      const ctx = Object.create(base, { lab: { value: lab }, take: { value: take }, follow: { value: follow } });
      const api = def.mount(content, ctx);

      function again() {
        problem = null;
        seen.version = -1;
        BOT.schedule();
      }

      /** In every frame while the panel is on screen. */
      function refresh() {
        if (!lab.ready) {
          if (!problem && !pending.size) {
            follow(lab.load()).catch(() => { /* told below */ });
          }
          return says();
        }
        if (seen.version !== lab.version || seen.names !== lab.tokenizers) {
          bar.draw();
          seen.names = lab.tokenizers;
        }
        if (seen.version !== lab.version) {
          seen.version = lab.version;
          problem = null;
          pending.clear();
          takes.clear();
          const promise = api.draw(lab);
          if (promise && typeof promise.then === "function") follow(promise).then(() => { drawn = true; }, () => {});
        }
        says();
      }

      const pass = Object.fromEntries(["trace", "append", "end", "refresh"].filter((name) => api[name]).map((name) => [name, api[name]]));
      return {
        ...pass,
        step: api.step || (() => {}),
        always: refresh,
        lang() {
          bar.draw();
          says();
          if (api.lang && seen.version !== -1) api.lang();
        },
      };
    },
  });

  /** pager({size, draw(from, to)}) -> {node, set(total), go(place)}: long lists a page at a time, said so.
   *  Hidden where one page holds all. */
  BOT.pager = ({ size, draw }) => {
    let total = 0;
    let from = 0;
    const back = BOT.say(el("button", { class: "bot-btn", type: "button", on: { click: () => turn(-size) } }), "ui.lab.back");
    const forth = BOT.say(el("button", { class: "bot-btn", type: "button", on: { click: () => turn(size) } }), "ui.lab.forth");
    const where = el("span", { class: "bot-muted", role: "status" });
    const node = el("div", { class: "bot-pager" }, back, where, forth);

    function turn(by) {
      const to = from + by;
      if (to < 0 || to >= total) return;
      from = to;
      show();
    }
    function show() {
      const to = Math.min(total, from + size);
      node.hidden = total <= size;
      BOT.setAttr(back, "aria-disabled", from === 0 ? "true" : null);
      BOT.setAttr(forth, "aria-disabled", to === total ? "true" : null);
      BOT.setText(where, BOT.t("ui.lab.paged", { from: BOT.num(from + 1), to: BOT.num(to), total: BOT.num(total) }));
      draw(from, to);
    }
    return {
      node,
      /** There are `n` now; the first page is shown. */
      set(n) {
        total = n;
        from = 0;
        show();
      },
      /** The page with this place. */
      go(place) {
        from = Math.floor(Math.max(0, Math.min(total - 1, place)) / size) * size;
        show();
      },
      /** Again, in another language. */
      redraw: show,
    };
  };
})();

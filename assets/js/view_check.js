/* "Check this number": every invariant of the run on screen, measured, green or red.
 *
 * What was measured when a recorded run was made is there at once. Measuring takes seconds, so it
 * begins only when somebody asks for it.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, state } = BOT;
  const KEEP = 8; // runs whose result is remembered
  // A file whose checksum is wrong, as one more invariant that does not hold.
  const DAMAGED = { name: "file", ok: false, measured: 1, tolerance: 0, unit: "count", detail: "check.file.detail", values: {} };

  BOT.panel({
    id: "check", stage: 7, deck: "lab",
    mount(body, ctx) {
      const known = new Map(); // trace id -> {checks, recorded, intact}
      /** phase: no_run, later (it goes on), idle, asking (for what was recorded), running, failed.
       *  found: the result to show, also while it is measured once more. */
      const now = { id: null, phase: "no_run", found: null, told: null, error: null, job: null, looked: false };

      const sign = el("span", { class: "bot-check-mark", "aria-hidden": "true" });
      const counts = el("strong");
      const rest = el("span");
      const when = el("p", { class: "bot-hint" });
      const summary = el("div", { class: "bot-check-summary" }, sign, el("div", null, el("p", { class: "bot-check-counts" }, counts, " ", rest), when));
      const words = el("p", { class: "bot-gate-words", role: "status" });
      const meter = el("progress", { class: "bot-progress", max: 1 });
      const go = BOT.say(el("button", { class: "bot-btn", type: "button", on: { click: () => start(false) } }), "panel.check.start");
      const stop = BOT.say(el("button", { class: "bot-btn", type: "button", on: { click: halt } }), "ui.inside.stop");
      const gate = el("div", { class: "bot-gate bot-check-gate" }, words, meter, el("div", { class: "bot-gate-row" }, go, stop));
      const table = BOT.checkTable({ go: (step) => ctx.go(step) });
      const hint = BOT.say(el("p", { class: "bot-hint bot-check-hint" }), "panel.check.hint");
      body.append(el("div", { class: "bot-check-top" }, summary, gate), table.node, hint);

      /** Is this run one whose numbers were measured when it was recorded? */
      const recorded = () => Boolean(state.example || (BOT.inside.now.id === now.id && (BOT.inside.now.data || {}).recorded));

      /** look: take only what is there already. */
      function start(look) {
        if (now.job || now.id === null) return;
        Object.assign(now, { phase: look ? "asking" : "running", told: null, error: null, looked: true });
        const id = now.id;
        const job = BOT.work({ op: "check", trace: id, ...(look ? {} : { again: true }) }, (told) => {
          if (now.job !== job) return;
          if (look) return halt(); // it would have to be measured
          now.told = told;
          draw();
        });
        now.job = job;
        job.promise.then((found) => {
          known.delete(id);
          known.set(id, found);
          while (known.size > KEEP) known.delete(known.keys().next().value);
          if (now.job === job) settle({ phase: "idle", found });
        }, (error) => {
          if (now.job === job) settle(error instanceof BOT.Halted ? { phase: "idle" } : { phase: "failed", error });
        });
        draw();
      }

      function settle(change) {
        Object.assign(now, { job: null, told: null }, change);
        draw();
      }

      function halt() {
        if (now.job) now.job.cancel();
        settle({ phase: "idle" });
      }

      /** Which run is on screen, and whether it has ended. */
      function follow() {
        const { trace } = state;
        const id = trace && trace.finish !== null && trace.id ? trace.id : null;
        const waits = trace && trace.finish === null ? "later" : "no_run";
        if (id === now.id && (id !== null || now.phase === waits)) return;
        if (now.job) now.job.cancel();
        Object.assign(now, { id, phase: id === null ? waits : "idle", found: known.get(id) || null, told: null, error: null, job: null, looked: false });
        draw();
      }

      function says() {
        const { phase, found, told, error } = now;
        if (phase === "later") return BOT.t("panel.check.later");
        if (phase === "no_run") return BOT.t("ui.inside.no_run");
        if (phase === "failed") return BOT.pick(error.text) || BOT.t("panel.check.failed");
        if (phase === "running") return BOT.workSays(told);
        return found ? "" : BOT.t(phase === "asking" ? "ui.inside.asking" : "panel.check.none");
      }

      function sum({ checks, recorded: then }) {
        const count = (ok) => checks.filter((check) => check.ok === ok).length;
        const [held, red, open] = [count(true), count(false), count(null)];
        BOT.setAttr(summary, "data-ok", String(red === 0));
        BOT.setText(sign, red ? "✕" : "✓");
        BOT.setText(counts, red ? BOT.t("panel.check.red", { n: red, total: checks.length }) : BOT.t("panel.check.held", { held, total: checks.length }));
        const more = [red ? BOT.t("panel.check.held_rest", { held }) : null, open ? BOT.t("panel.check.open", { n: open }) : null];
        BOT.setText(rest, more.filter(Boolean).join(" · "));
        BOT.setText(when, BOT.t(then ? "panel.check.when_recorded" : "panel.check.when_now", { model: state.trace.model.name }));
      }

      function draw() {
        const { phase, found, told, error } = now;
        const all = found && { ...found, checks: found.intact === false ? [DAMAGED, ...found.checks] : found.checks };
        summary.hidden = table.node.hidden = hint.hidden = !found;
        gate.classList.toggle("is-small", Boolean(found));
        BOT.setAttr(gate, "data-phase", phase);
        BOT.setText(words, says());
        words.hidden = !words.textContent;
        meter.hidden = phase !== "running";
        if (told && typeof told.fraction === "number") meter.value = told.fraction;
        else meter.removeAttribute("value");
        // Once more of what was measured just now would be the same.
        go.hidden = (phase !== "idle" && phase !== "failed") || (phase === "idle" && found && !found.recorded);
        BOT.setText(go, BOT.t(error ? "panel.check.retry" : "panel.check.start"));
        stop.hidden = phase !== "running";
        gate.hidden = Boolean(found) && words.hidden && go.hidden && stop.hidden;
        if (all) {
          sum(all);
          table.draw(all.checks);
        }
      }

      draw();
      return {
        step() {},
        lang: draw,
        refresh() {
          follow();
          if (now.phase === "idle" && !now.found && !now.looked && recorded()) start(true);
        },
      };
    },
  });
})();

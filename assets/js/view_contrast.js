/* Two prompts that differ in a word, through the same model: where it begins to tell them apart. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el, state } = BOT;

  const SHOWN = 10; // candidates drawn; all are in the table
  const chinese = (text) => /[\u3400-\u9fff]/.test(text);

  const GAPS = [{ key: "panel.contrast.col.place", class: "bot-n" }, { key: "panel.contrast.col.cosine", class: "bot-n" },
    { key: "panel.contrast.col.gap", class: "bot-n" }, { key: "panel.contrast.col.distance", class: "bot-n" },
    { key: "panel.contrast.col.entropy_a", class: "bot-n" }, { key: "panel.contrast.col.entropy_b", class: "bot-n" }];
  const NEXT = [{ key: "panel.contrast.col.token" }, { key: "panel.contrast.col.id", class: "bot-n" },
    { key: "panel.contrast.col.p_a", class: "bot-n" }, { key: "panel.contrast.col.rank_a", class: "bot-n" },
    { key: "panel.contrast.col.p_b", class: "bot-n" }, { key: "panel.contrast.col.rank_b", class: "bot-n" }];
  const HEADS = [{ key: "panel.contrast.col.layer", class: "bot-n" }, { key: "panel.contrast.col.head", class: "bot-n" },
    { key: "panel.contrast.col.read_a", class: "bot-n" }, { key: "panel.contrast.col.read_b", class: "bot-n" }];

  BOT.panel({
    id: "contrast", stage: 7, deck: "lab",
    mount(body) {
      // Two of one text differ in their templates; that is another panel's matter.
      const recorded = (window.BOT_PAIRS || []).filter((p) => p.a !== p.b);
      let pair = null;
      let gaps = [];
      let place = 0;
      let job = null; // {cancel}
      let problem = null; // an error, or null
      let told = null;
      let began = false;
      let log = false;
      let mode = "raw";

      /* ---- what is asked ---- */

      const field = (letter) => {
        const input = el("textarea", { class: "bot-pair-input", rows: 2, id: `bot-pair-${letter}`, dir: "auto" });
        return { input, node: el("div", { class: "bot-pair-field" },
          el("label", { class: "bot-label", for: input.id }, el("span", { class: `bot-pair-letter is-${letter}` }, letter.toUpperCase()), " ", BOT.say(el("span"), `panel.contrast.field_${letter}`)), input) };
      };
      const [first, second] = [field("a"), field("b")];
      const chips = recorded.map((p) => el("button", { class: "bot-chip", type: "button", on: { click: () => open(p) } }, BOT.visible(`${p.a} / ${p.b}`, true)));
      const modes = ["raw", "chat"].map((name) => BOT.say(el("button", { type: "button", class: "bot-btn", "aria-pressed": String(name === mode), on: { click: () => setMode(name) } }), `panel.contrast.mode_${name}`));
      const go = BOT.say(el("button", { class: "bot-btn bot-pair-go", type: "button", on: { click: compare } }), "panel.contrast.go");
      const stop = BOT.say(el("button", { class: "bot-btn", type: "button", hidden: true, on: { click: () => end(() => job.cancel()) } }), "ui.inside.stop");
      const meter = el("progress", { class: "bot-progress", max: 1, hidden: true });
      const says = el("p", { class: "bot-pair-says", role: "status" });
      body.append(el("div", { class: "bot-pair-ask" },
        chips.length ? el("div", { class: "bot-pair-recorded" }, BOT.say(el("span", { class: "bot-label" }), "panel.contrast.recorded"), chips) : null,
        first.node, second.node,
        el("div", { class: "bot-pair-row" },
          BOT.say(el("div", { class: "bot-pair-modes", role: "group" }, modes), "panel.contrast.mode", "aria-label"), go, stop, meter, says)));

      function setMode(name) {
        mode = name;
        modes.forEach((button, k) => BOT.setAttr(button, "aria-pressed", ["raw", "chat"][k] === name));
      }

      function say() {
        meter.hidden = stop.hidden = !job;
        go.disabled = Boolean(job);
        if (job && told && typeof told.fraction === "number") meter.value = told.fraction;
        else meter.removeAttribute("value");
        says.classList.toggle("is-bad", Boolean(problem));
        BOT.setText(says, problem ? BOT.pick(problem.text) || BOT.t("panel.contrast.failed") : job ? (told ? BOT.workSays(told) : BOT.t("panel.contrast.asking")) : "");
      }

      function end(how) {
        if (how) how();
        job = told = null;
        say();
      }

      function ask(request) {
        if (job) job.cancel();
        problem = told = null;
        const mine = (job = BOT.work(request, (now) => {
          if (job !== mine) return;
          told = now;
          say();
        }));
        say();
        mine.promise.then((found) => {
          if (job !== mine) return;
          end();
          show(found);
        }, (error) => {
          if (job !== mine || error instanceof BOT.Halted) return;
          problem = error;
          end();
        });
      }

      function compare() {
        ask({ op: "pair", a: { prompt: first.input.value }, b: { prompt: second.input.value }, mode });
      }

      function open(p) {
        first.input.value = p.a;
        second.input.value = p.b;
        setMode("raw");
        chips.forEach((chip, k) => BOT.setAttr(chip, "aria-pressed", recorded[k] === p));
        ask({ op: "pair", name: p.name });
      }
      for (const { input } of [first, second]) {
        input.addEventListener("input", () => chips.forEach((chip) => BOT.setAttr(chip, "aria-pressed", "false")));
      }

      /* ---- what is shown ---- */

      const sides = { a: BOT.pairSide("a"), b: BOT.pairSide("b") };
      const damaged = BOT.say(el("p", { class: "bot-note bot-note-warn" }), "panel.contrast.damaged");
      const story = el("p", { class: "bot-pair-story" });
      const curve = BOT.gapCurve({ read, go: at });
      const scales = [false, true].map((which) => BOT.say(el("button", { type: "button", class: "bot-chip", "aria-pressed": String(which === log), on: { click: () => setLog(which) } }), which ? "panel.contrast.log" : "panel.contrast.linear"));
      const duo = BOT.duo({ label: "panel.contrast.next", first: "panel.contrast.in_a", second: "panel.contrast.in_b" });
      const ladder = BOT.pairLadder(at);
      const lensNone = el("p", { class: "bot-hint", hidden: true });
      const reads = BOT.pairReads(at);
      const part = (key, hint, ...nodes) => el("section", { class: "bot-pair-part" }, BOT.say(el("h4", { class: "bot-pair-head" }), key), hint ? BOT.say(el("p", { class: "bot-hint" }), hint) : null, nodes);
      const tables = [
        BOT.fold({ label: "panel.contrast.table_layers", columns: GAPS, rows: layerRows, mark: () => (pair && pair.a.layers.shape[0] === gaps.length ? place : -1) }),
        BOT.fold({ label: "panel.contrast.table_next", columns: NEXT, rows: nextRows }),
        BOT.fold({ label: "panel.contrast.table_heads", columns: HEADS, rows: headRows }),
      ];
      const result = el("div", { class: "bot-pair-result", hidden: true }, damaged,
        el("div", { class: "bot-pair-sides" }, sides.a.node, sides.b.node), story,
        el("div", { class: "bot-pair-grid" },
          part("panel.contrast.curve_title", "panel.contrast.curve_hint", curve.node, BOT.say(el("div", { class: "bot-pair-scales", role: "group" }, scales), "panel.contrast.scale", "aria-label")),
          part("panel.contrast.next_title", "panel.contrast.next_hint", duo.node),
          part("panel.contrast.lens_title", "panel.contrast.lens_hint", lensNone, ladder.node),
          part("panel.contrast.reads_head", "panel.contrast.reads_hint", reads.node)),
        tables.map((t) => t.node));
      body.append(result);

      function show(found) {
        pair = found;
        for (const name of ["a", "b"]) pair[name].differs = new Set(pair[name].differ.data);
        gaps = Array.from(pair.cosine.data, (c) => 1 - c);
        place = pair.parts_at === null ? gaps.length - 1 : pair.parts_at + 1;
        result.hidden = false;
        draw();
      }

      function draw() {
        if (!pair) return;
        damaged.hidden = pair.intact;
        sides.a.set(pair.a);
        sides.b.set(pair.b);
        curve.set({ gaps, parts: pair.parts_at, log });
        duo.set(candidates().slice(0, SHOWN));
        const missing = pair.missing.find((m) => m.part === "lens");
        lensNone.hidden = !missing;
        if (missing) BOT.setText(lensNone, BOT.t(missing.reason, missing.values));
        ladder.set(pair, gaps);
        reads.set(pair);
        tell();
        at(place);
        tables.forEach((t) => t.draw());
      }

      function tell() {
        const layer = pair.parts_at;
        const start = pair.a.differs.has(pair.a.prompt.length - 1) || pair.b.differs.has(pair.b.prompt.length - 1);
        const lines = [layer === null ? BOT.t("panel.contrast.never")
          : BOT.t("panel.contrast.story", { layer, from: BOT.sig(gaps[layer], 2), to: BOT.sig(gaps[layer + 1], 2) })];
        if (start) lines.push(BOT.t("panel.contrast.apart_at_start"));
        if (pair.a.reads || pair.b.reads) {
          const [[layer, head]] = reads.ranked();
          const of = (side) => (side.reads ? BOT.prob(side.reads.at(layer, head)) : "–");
          lines.push(BOT.t("panel.contrast.story_head", { layer, head, a: of(pair.a), b: of(pair.b) }));
        }
        BOT.setText(story, lines.join(" "));
      }

      const cosine = (k) => pair.cosine.data[k];
      function read(k) {
        return BOT.t(k === 0 ? "panel.contrast.gap_start" : "panel.contrast.gap_at", { layer: k - 1, gap: BOT.sig(gaps[k], 3), cosine: BOT.exact(cosine(k), true) });
      }

      function at(k) {
        place = k;
        curve.at(k);
        ladder.at(k);
        reads.at(k);
        tables[0].draw();
      }

      function setLog(which) {
        log = which;
        scales.forEach((button, k) => BOT.setAttr(button, "aria-pressed", Boolean(k) === log));
        if (pair) curve.set({ log });
      }

      function candidates() {
        const { ids, a, b, rank_a: ra, rank_b: rb } = pair.next;
        const special = new Set(pair.special);
        return Array.from(ids.data, (id, k) => {
          const notes = [["a", pair.a], ["b", pair.b]].filter(([, side]) => side.answer[0].id === id).map(([name]) => name.toUpperCase());
          return { id, hex: pair.pieces[id], special: special.has(id), a: a.data[k], b: b.data[k], rankA: ra.data[k], rankB: rb.data[k],
            mark: notes.length > 0, note: notes.length ? BOT.t("panel.contrast.chosen", { side: notes.join(" + ") }) : "" };
        });
      }

      /* ---- the tables ---- */

      const exact = (x) => ({ text: BOT.sig(x, 4), title: BOT.exact(x, true) });
      function layerRows() {
        if (!pair) return [];
        const rowOf = (side, k) => side.layers.data.indexOf(k);
        return gaps.map((gap, k) => [BOT.placeName(k), { text: BOT.exact(cosine(k), true) }, { text: BOT.sig(gap, 4), title: BOT.exact(gap) }, exact(pair.distance.data[k]),
          ...[pair.a, pair.b].map((side) => (rowOf(side, k) < 0 ? "–" : exact(side.entropy_bits.data[rowOf(side, k)])))]);
      }
      function nextRows() {
        if (!pair) return [];
        return candidates().map((c) => [{ hex: c.hex }, String(c.id), { text: BOT.prob(c.a), title: BOT.exact(c.a, true) }, BOT.num(c.rankA), { text: BOT.prob(c.b), title: BOT.exact(c.b, true) }, BOT.num(c.rankB)]);
      }
      function headRows() {
        if (!pair || !(pair.a.reads || pair.b.reads)) return [];
        const cell = (side, l, h) => (side.reads ? { text: BOT.prob(side.reads.at(l, h)), title: BOT.exact(side.reads.at(l, h), true) } : "–");
        return reads.ranked().map(([l, h]) => [String(l), String(h), cell(pair.a, l, h), cell(pair.b, l, h)]);
      }

      return {
        step() {},
        refresh() {
          if (began || !recorded.length) return;
          began = true; // once it is on screen: the pair in the reader's language
          open(recorded.find((p) => chinese(p.a) === (state.lang === "zh")) || recorded[0]);
        },
        lang() {
          say();
          draw();
        },
      };
    },
  });
})();

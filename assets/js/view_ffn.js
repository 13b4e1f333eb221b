/* The feed-forward network: expand, gate, compress, and which of its neurons speak at this step. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  /** A neuron of the list, as a button: {node, set(values), turn(pressed)}. */
  function line(list, pick, k) {
    const [name, gate, up, act, norm] = ["id", "gate", "up", "act", "norm"].map((c) => el("span", { class: `bot-ffn-cell is-${c}` }));
    const [signed, wrote] = [BOT.balance(), el("i", { class: "bot-ffn-wrote", "aria-hidden": "true" })];
    const button = el("button", { class: "bot-ffn-row", type: "button", on: { click: () => pick(k) } },
      name, gate, up, signed.node, act, wrote, norm);
    const node = el("li", null, button);
    list.append(node);
    return {
      node,
      set(v) {
        BOT.setText(name, String(v.id));
        BOT.setText(gate, v.gate === null ? "" : BOT.signed(v.gate));
        BOT.setText(up, BOT.signed(v.up));
        BOT.setText(act, BOT.signed(v.activation));
        BOT.setText(norm, BOT.sig(v.norm));
        signed.set(v.activation, v.most.activation);
        wrote.style.setProperty("--w", (v.norm / v.most.norm || 0).toFixed(4));
        BOT.setAttr(button, "aria-pressed", v.pressed);
        BOT.setAttr(button, "aria-label", BOT.t("panel.ffn.row_label", { id: v.id, value: BOT.signed(v.activation), norm: BOT.sig(v.norm) }));
      },
    };
  }

  BOT.insidePanel({
    id: "ffn", stage: 3, deck: "inside",
    mount(body, ctx) {
      let payload = null; // of the layer shown
      let most = null; // full heights of this layer, over all steps
      let pinned = null; // id of a neuron of this layer
      let state = { kind: "pending", error: null };

      const dial = BOT.dial({ key: "ui.inside.layer", get: () => ctx.focus.layer, set: (layer) => ctx.setFocus({ layer }) });
      const now = BOT.answering();
      const status = el("p", { class: "bot-note", role: "status", hidden: true });
      const picture = BOT.ffnPicture({ pick: (k) => pin(listed(ctx.i)[k], true) });
      const norms = Object.fromEntries(["attn", "ffn", "stream"].map((name) => [name, { value: el("dd"), bar: el("i", { class: `is-${name}`, "aria-hidden": "true" }) }]));
      const keys = { attn: "panel.ffn.norm_attn", ffn: "panel.ffn.norm_ffn", stream: "panel.ffn.norm_stream" };
      const wrote = el("dl", { class: "bot-ffn-norms" }, Object.entries(keys).map(([name, key]) =>
        el("div", null, BOT.say(el("dt"), key), norms[name].value, norms[name].bar)));
      const unseen = el("p", { class: "bot-hint" });
      const scale = el("p", { class: "bot-hint bot-ffn-scale" });
      const list = el("ol", { class: "bot-ffn-list" });
      const rows = BOT.pool((k) => line(list, (at) => pin(listed(ctx.i)[at], true), k));
      const heads = el("p", { class: "bot-ffn-row is-head", "aria-hidden": "true" },
        [["id", "panel.ffn.col.neuron"], ["gate", "panel.ffn.gate"], ["up", "panel.ffn.up"], ["act", "panel.ffn.activation"], ["norm", "panel.ffn.col.wrote"]]
          .map(([c, key]) => BOT.say(el("span", { class: `bot-ffn-cell is-${c}` }), key)));
      const strongest = el("h4", { class: "bot-ffn-head" });
      const neuron = BOT.ffnNeuron();
      const fires = BOT.ffnFires({ pick: (id, step) => { pin(id, true); ctx.go(step); } });
      const table = BOT.fold({
        label: "panel.ffn.table",
        columns: [{ key: "panel.ffn.col.neuron", class: "bot-n" }, { key: "panel.ffn.gate", class: "bot-n" }, { key: "panel.ffn.up", class: "bot-n" },
          { key: "panel.ffn.activation", class: "bot-n" }, { key: "panel.ffn.col.wrote", class: "bot-n" }],
        rows: () => Array.from(listed(ctx.i), (id, k) => [String(id), ...["gate", "up", "activation", "write_norms"].map((name) =>
          (payload[name] ? { text: BOT.sig(payload[name].at(ctx.i, k), 4), title: BOT.exact(payload[name].at(ctx.i, k), true) } : "–"))]),
        mark: () => Array.from(listed(ctx.i)).indexOf(pinned),
        pick: (k) => pin(listed(ctx.i)[k], true),
      });
      const detail = el("div", { class: "bot-ffn-detail" },
        el("div", { class: "bot-ffn-left" }, strongest, BOT.say(el("p", { class: "bot-hint" }), "panel.ffn.strongest_hint"), heads, list), neuron.node);
      const content = el("div", { class: "bot-ffn" }, picture.node, scale, wrote, unseen, detail, table.node, fires.node);
      body.append(el("div", { class: "bot-dials" }, dial.node, now.node), status, content);

      const listed = (i) => (payload && payload.neurons && i >= 0 && i < payload.neurons.shape[0] ? payload.neurons.row(i) : []);
      const gated = () => payload.gate !== null;

      /** What stands in place of the picture, or nothing. */
      function say(kind, error = null) {
        state = { kind, error };
        status.hidden = kind === "shown";
        content.hidden = kind !== "shown" && kind !== "pending";
        content.classList.toggle("is-stale", kind === "pending");
        if (kind === "pending" && !payload) content.hidden = true;
        BOT.setAttr(status, "class", `bot-note ${kind === "failed" ? "bot-note-bad" : "bot-note-info"}`);
        const text = { pending: "panel.ffn.pending", absent: "ui.inside.not_recorded", shown: null }[kind];
        if (text) BOT.setText(status, BOT.t(text));
        if (kind === "failed") BOT.setText(status, BOT.pick(error.text) || BOT.t("panel.ffn.failed"));
        if (kind === "unseen") BOT.setText(status, BOT.inside.missing(ctx.data, "writes") || BOT.t("panel.ffn.unseen"));
      }

      const take = BOT.latest(arrive, (error) => say("failed", error));
      const takeNeuron = BOT.latest((found) => neuron.show(found), (error) => neuron.fail(error));

      function ask() {
        const { data, focus } = ctx;
        dial.draw();
        if (payload && payload.of === data && payload.layer === focus.layer) return;
        if (!data.layers.includes(focus.layer)) {
          payload = null;
          take(new Promise(() => {})); // what is on its way is not wanted any more
          return say("absent");
        }
        say("pending");
        take(data.ffn(focus.layer).then((found) => Object.assign(found, { of: data })));
      }

      function arrive(found) {
        payload = found;
        if (!payload.neurons) return say("unseen");
        most = { norm: BOT.largest(payload.write_norms.data) };
        for (const part of ["gate", "up", "activation"]) most[part] = payload[part] ? BOT.largest(payload[part].data) : null;
        heads.classList.toggle("is-plain", !gated());
        list.classList.toggle("is-plain", !gated());
        const { d_model, d_ffn } = ctx.data.model;
        picture.shape({ d_model, d_ffn, gated: gated() });
        say("shown");
        pinned = null;
        pin(listed(Math.max(0, ctx.i))[0], false);
      }

      /** Look at a neuron of this layer and stay with it. byReader: it was chosen by hand. */
      function pin(id, byReader) {
        if (id === undefined || (id === pinned && byReader)) return;
        pinned = id;
        neuron.pending(payload.layer, id);
        takeNeuron(ctx.data.neuron(payload.layer, id));
        fires.set(ctx.data, payload, pinned);
        draw();
      }

      function draw() {
        const { data, i } = ctx;
        now.show(data, i);
        if (!payload || !payload.neurons || payload.layer !== ctx.focus.layer || payload.of !== data) return;
        const ids = listed(i);
        const part = (name) => (payload[name] && ids.length ? payload[name].row(i) : null);
        const [gate, up, activation, wroteNorms] = ["gate", "up", "activation", "write_norms"].map(part);
        const at = Array.from(ids).indexOf(pinned);
        picture.set(ids.length ? { ids, gate, up, activation, most, chosen: pinned, norm: ffnNorm(i) } : null);
        rows(ids.length).forEach((row, k) => row.set({ id: ids[k], gate: gate && gate[k], up: up[k], activation: activation[k],
          norm: wroteNorms[k], most, pressed: ids[k] === pinned }));
        neuron.here(at < 0 ? null : activation[at], payload.neurons.shape[1]);
        detail.classList.toggle("is-before", !ids.length);
        BOT.setText(scale, BOT.t("panel.ffn.pic.hint", { f: BOT.num(data.model.d_ffn), k: payload.neurons.shape[1] }));
        BOT.setText(strongest, BOT.t("panel.ffn.strongest", { n: ids.length, f: BOT.num(data.model.d_ffn) }));
        fires.mark(i);
        sums(i);
        table.draw();
      }

      const ffnNorm = (i) => {
        const { stream, n_prompt: n } = ctx.data;
        return stream.ffn_norms ? stream.ffn_norms.at(payload.layer, n - 1 + i) : null;
      };

      /** Norms of what this layer's two blocks wrote here, beside the stream they were added to. */
      function sums(i) {
        const { stream, n_prompt: n } = ctx.data;
        const seen = stream.attn_norms && i >= 0;
        wrote.classList.toggle("is-before", i < 0);
        wrote.hidden = !stream.attn_norms;
        BOT.setText(unseen, stream.attn_norms ? BOT.t("panel.ffn.norm_hint") : BOT.inside.missing(ctx.data, "writes") || "");
        if (!seen) return;
        const p = n - 1 + i;
        const values = { attn: stream.attn_norms.at(payload.layer, p), ffn: stream.ffn_norms.at(payload.layer, p), stream: stream.norms.at(payload.layer + 1, p) };
        const full = BOT.largest(Object.values(values));
        for (const [name, value] of Object.entries(values)) {
          BOT.setText(norms[name].value, BOT.sig(value, 4));
          BOT.setAttr(norms[name].value, "title", BOT.exact(value, true));
          norms[name].bar.style.setProperty("--w", (value / full).toFixed(4));
        }
      }

      return {
        inside(data) {
          payload = null;
          dial.set(data.model.n_layers, (i) => data.layers.includes(i));
          now.show(data, ctx.i);
        },
        step: draw,
        focus: ask,
        lang() {
          say(state.kind, state.error);
          dial.draw();
          picture.lang();
          neuron.lang();
          fires.lang();
          draw();
        },
      };
    },
  });
})();

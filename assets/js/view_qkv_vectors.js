/* The query, key and value of one position, at every stage that the model takes them through. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;
  const STAGES = ["raw", "normed", "ready"];

  /** The arrays of one letter by stage; null where the model has no such stage. */
  function stages(found, letter) {
    const turned = letter !== "v" && found.cos !== null;
    const normed = letter === "v" ? null : found[`${letter}_normed`];
    const raw = letter === "v" ? null : found[`${letter}_raw`];
    // Without norm and rotation what leaves the projection is what attention gets.
    return { raw: turned || normed ? raw : null, normed: turned ? normed : null, ready: found[letter], turned,
      last: turned ? "turned" : normed ? "normed" : "plain" };
  }

  function column(letter) {
    let now = null; // {found, position}
    let parts = null;
    const group = BOT.qkv.strips({ read, pair });
    const title = el("h5", { class: "bot-qkv-name" });
    const role = el("p", { class: "bot-hint" });
    const rows = Object.fromEntries(STAGES.map((stage) => {
      const label = el("span", { class: "bot-label" });
      const facts = el("span", { class: "bot-hint" });
      const strip = group.add(() => `${letter}: ${label.textContent}`);
      return [stage, { label, facts, strip, node: el("div", { class: "bot-qkv-stage" }, el("p", { class: "bot-qkv-stagehead" }, label, facts), strip.node) }];
    }));
    const node = el("div", { class: "bot-qkv-column" }, title, role, STAGES.map((stage) => rows[stage].node), group.readout);

    /** The dimension that turns together with k, or -1. */
    function pair(k) {
      if (!parts || !parts.turned) return -1;
      const wide = now.found.cos.shape[1];
      return k >= wide ? -1 : k < wide / 2 ? k + wide / 2 : k - wide / 2;
    }

    function read(k) {
      const { found, position } = now;
      const values = STAGES.filter((stage) => parts[stage]).map((stage) => BOT.sig(parts[stage].at(position, k), 4)).join(" → ");
      const said = BOT.t("panel.qkv.dimension", { k: BOT.num(k), values });
      const other = pair(k);
      return other < 0 ? said : `${said} · ${BOT.t("panel.qkv.pair", { other: BOT.num(other), cos: BOT.sig(found.cos.at(position, k)), sin: BOT.sig(found.sin.at(position, k)) })}`;
    }

    function draw(next) {
      now = next;
      const { data, found, position } = now;
      parts = stages(found, letter);
      const token = BOT.attention.names(data)[position];
      BOT.setText(title, BOT.t(`panel.qkv.${letter}.name`, { head: found.head, kv: found.kv }));
      BOT.setText(role, BOT.t(`panel.qkv.${letter}.role`, { position, token }));
      const names = { raw: "raw", normed: "normed", ready: parts.last };
      const before = parts.normed ? "normed" : "raw"; // drawn to the same scale as what rotation makes of it
      for (const stage of STAGES) {
        const row = rows[stage];
        row.node.hidden = !parts[stage];
        if (!parts[stage]) continue;
        const values = parts[stage].row(position);
        const kin = parts.turned && (stage === before || stage === "ready");
        const most = kin ? BOT.qkv.most(parts[before].row(position), parts.ready.row(position)) : BOT.qkv.most(values);
        row.strip.set(values, most);
        BOT.setText(row.label, BOT.t(`panel.qkv.stage.${names[stage]}`, { letter, position }));
        BOT.setText(row.facts, BOT.t("panel.qkv.length", { letter, norm: BOT.sig(BOT.attention.lengths(parts[stage])[position], 4), most: BOT.sig(most) }));
      }
      group.say();
    }

    return { node, draw };
  }

  /** vectors() -> {node, draw(now)}; now: {data, found, position}. */
  BOT.qkv.vectors = () => {
    let now = null;
    const columns = ["q", "k", "v"].map(column);
    const fields = ["q_raw", "q_normed", "q", "k_raw", "k_normed", "k", "v"];
    const table = BOT.fold({
      label: "panel.qkv.vectors.table",
      columns: [{ key: "panel.qkv.col.dimension", class: "bot-n" },
        ...fields.map((name) => ({ key: `panel.qkv.col.${name}`, class: `bot-n bot-qkv-col-${name.split("_")[1] || "ready"}` }))],
      rows() {
        const { found, position } = now;
        return Array.from({ length: found.q.shape[1] }, (_, k) => [k, ...fields.map((name) => (found[name] ? BOT.exact(found[name].at(position, k), true).replace("-", "−") : null))]);
      },
    });
    const node = el("div", { class: "bot-att-block" }, BOT.say(el("h4", { class: "bot-att-title" }), "panel.qkv.vectors.title"),
      BOT.say(el("p", { class: "bot-att-axis" }), "panel.qkv.vectors.axes"),
      el("div", { class: "bot-qkv-columns" }, columns.map((c) => c.node)), table.node);
    return {
      node,
      draw(next) {
        now = next;
        // A stage that changes nothing, or is not there, has no column.
        const { q_normed: normed, cos } = now.found;
        node.classList.toggle("has-no-raw", !normed && !cos);
        node.classList.toggle("has-no-normed", !normed || !cos);
        for (const c of columns) c.draw(now);
        table.draw();
      },
    };
  };
})();

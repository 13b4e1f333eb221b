/* A question that takes the model: the button, how far it is, a way to stop, and what went wrong. */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  /** asking({go, ask, apply(answer)}) -> {node, ask(request), draw(), busy}: go, the text key of the
   *  button; ask() -> the request to make, or null. Only the newest answer is applied. */
  BOT.asking = ({ go, ask, apply }) => {
    const button = BOT.say(el("button", { class: "bot-btn bot-asking-go", type: "button", on: { click: () => {
      const request = ask();
      if (request) start(request);
    } } }), go);
    const stop = BOT.say(el("button", { class: "bot-btn", type: "button", hidden: true, on: { click: () => {
      job.cancel();
      end();
    } } }), "ui.inside.stop");
    const meter = el("progress", { class: "bot-progress", max: 1, hidden: true });
    const says = el("p", { class: "bot-asking-says", role: "status" });
    const node = el("div", { class: "bot-asking" }, button, stop, meter, says);
    let job = null;
    let told = null;
    let problem = null;

    function draw() {
      meter.hidden = stop.hidden = !job;
      BOT.setAttr(button, "aria-disabled", job ? "true" : null);
      if (job && told && typeof told.fraction === "number") meter.value = told.fraction;
      else meter.removeAttribute("value");
      says.classList.toggle("is-bad", Boolean(problem));
      BOT.setText(says, problem ? BOT.pick(problem.text) || BOT.t("ui.lab.failed") : job ? BOT.workSays(told) : "");
    }

    function end() {
      job = told = null;
      draw();
    }

    function start(request) {
      if (job) job.cancel();
      problem = told = null;
      const mine = (job = BOT.work(request, (now) => {
        if (job !== mine) return;
        told = now;
        draw();
      }));
      draw();
      mine.promise.then((answer) => {
        if (job !== mine) return;
        end();
        apply(answer);
      }, (error) => {
        if (job !== mine || error instanceof BOT.Halted) return;
        problem = error;
        end();
      });
    }

    return { node, draw, ask: start, get busy() { return job !== null; } };
  };

  /** Sentences one after another, as the page's language sets them. */
  BOT.sentences = (list) => list.filter(Boolean).join(BOT.state.lang === "zh" ? "" : " ");

  /** Text in one line: blanks as they are, line breaks as signs. */
  BOT.oneLine = (text) => BOT.visible(text.replaceAll("\n", "↵"), true);

  /** Tokens in a row, each over its id: {node, set(tokens, mark(k))}; a marked one stands out. */
  BOT.idRow = (label) => {
    const node = BOT.say(el("div", { class: "bot-idrow", role: "group" }), label, "aria-label");
    return {
      node,
      set(tokens, mark = () => false) {
        node.replaceChildren(...tokens.map((t, k) => el("span", { class: `bot-idtok${t.special ? " is-special" : ""}${mark(k) ? " is-marked" : ""}` },
          el("span", { class: "bot-idtok-text" }, t.hex ? BOT.visible(BOT.piece(t.hex).text === null ? `⟨${BOT.hex(t.hex)}⟩` : BOT.piece(t.hex).text) : "∅"),
          el("span", { class: "bot-idtok-id" }, String(t.id)))));
      },
    };
  };
})();

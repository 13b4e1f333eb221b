/* What takes the server a while: asked for, followed, given up.
 *
 * The server answers at once how far it is; whoever no longer asks is no longer waited for.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const EVERY_MS = 250;
  const who = Array.from(crypto.getRandomValues(new Uint8Array(8)), (b) => b.toString(16).padStart(2, "0")).join("");

  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  /** Asked for and then not wanted any more. */
  BOT.Halted = class Halted extends Error {};

  /** work({op, …}, onState) -> {promise, cancel()}. onState({state, stage, fraction, ahead}) while it
   *  goes on; the promise gives the result with its arrays decoded, or fails with Halted or with an
   *  Error whose `text` {en, zh} says why. */
  BOT.work = (request, onState) => {
    const asked = { ...request, who };
    let halted = false;
    async function run() {
      for (;;) {
        const answer = await BOT.ask("work", asked);
        if (halted) throw new BOT.Halted();
        if (answer.state === "done") return BOT.unpack(answer.result);
        if (onState) onState(answer);
        await wait(EVERY_MS);
        if (halted) throw new BOT.Halted();
      }
    }
    return {
      promise: run(),
      cancel() {
        if (halted) return;
        halted = true;
        BOT.ask("halt", asked).catch(() => {}); // nobody waits for it: the server forgets it by itself
      },
    };
  };

  /** latest(apply, fail): give it promises; only the newest one's outcome is applied. */
  BOT.latest = (apply, fail) => {
    let newest = null;
    return (promise) => {
      newest = promise;
      promise.then(
        (value) => { if (newest === promise) apply(value); },
        (error) => { if (newest === promise && !(error instanceof BOT.Halted)) fail(error); });
    };
  };
})();

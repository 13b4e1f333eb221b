/* What cut a text into words: the pre-tokenizer's step and the part of its pattern that matched, in
 * plain words where the form is a known one.
 */
"use strict";
(() => {
  const BOT = window.BOT;
  const { el } = BOT;

  const endings = /^(?:\(\?i:)?'(?:s|t|re|ve|m|ll|d|S)(?:\|'\w+)*\)?$/;
  /* Alternatives as they stand in the patterns of GPT-2, GPT-4, Qwen, Llama 3 and DeepSeek. */
  const FORMS = new Map([
    [" ?\\p{L}+", "space_letters"], ["\\p{L}+", "letters"], ["[\\p{L}]+", "letters"],
    [" ?\\p{N}+", "space_digits"], ["\\p{N}", "digit"], ["[\\p{N}]", "digit"], ["\\p{N}+", "digits"], ["\\p{N}{1,3}", "digits_three"],
    [" ?[^\\s\\p{L}\\p{N}]+", "space_signs"], ["[^\\s\\p{L}\\p{N}]+", "signs"],
    ["[^\\r\\n\\p{L}\\p{N}]?\\p{L}+", "sign_letters"], ["[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+", "sign_letters"], ["[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+", "sign_letters"],
    [" ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*", "signs_breaks"], [" ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*", "signs_breaks"], [" ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*", "signs_breaks"],
    [" ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*", "signs_breaks"],
    ["\\s*[\\r\\n]+", "breaks"], ["\\s*[\\r\\n]", "breaks"], ["\\s*[\\r\\n]++", "breaks"],
    ["\\s+(?!\\S)", "blanks_but_last"], ["\\s+", "blanks"], ["\\s", "blanks"], ["\\s++$", "blanks_end"],
  ]);
  const STEPS = new Set(["Digits", "Whitespace", "WhitespaceSplit", "Punctuation", "Metaspace", "BertPreTokenizer", "UnicodeScripts", "CharDelimiterSplit", "ByteLevel", "Split"]);

  const t = (key, values) => BOT.t(`panel.merges.${key}`, values);

  /** A rule ({step, pattern, alternative}, null where nothing cut) in plain words. */
  function plainly(rule) {
    if (!rule) return t("rule.none");
    const { step, pattern, alternative } = rule;
    if (alternative !== null) {
      const form = FORMS.get(alternative) || (endings.test(alternative) ? "endings" : null);
      return form ? t(`form.${form}`) : t("form.other");
    }
    if (pattern !== null) return t("rule.between");
    return STEPS.has(step) ? t(`step.${step}`) : t("rule.step", { step });
  }

  /** The pattern of a rule, its parts apart and the one that matched marked. */
  function pattern(rule) {
    const at = rule.alternative === null ? -1 : rule.pattern.indexOf(rule.alternative);
    if (at < 0) return el("code", null, rule.pattern);
    const end = at + rule.alternative.length;
    return el("code", null, rule.pattern.slice(0, at), el("mark", null, rule.alternative), rule.pattern.slice(end));
  }

  /** The rules that cut this text, with the number that each word has beside it:
   *  {node, draw(rules, counts), mark(r)}. counts: words by rule, the last one those that none cut. */
  BOT.mergeRules = () => {
    const list = el("ol", { class: "bot-merges-rules" });
    const node = el("div", { class: "bot-merges-rulebox" }, BOT.say(el("p", { class: "bot-label" }), "panel.merges.rules"), list);
    let rows = [];
    return {
      node,
      draw(rules, counts) {
        rows = [...rules, null].map((rule, r) => {
          const words = counts[r];
          if (rule === null && !words) return null; // none but those that a rule cut
          const code = rule && rule.alternative !== null ? el("code", null, rule.alternative.replace(/ /g, "␣")) : null;
          return el("li", { "data-r": r }, el("span", { class: "bot-merges-no" }, rule ? String(r + 1) : "–"),
            el("span", null, plainly(rule), " ", code),
            el("span", { class: "bot-muted" }, [t("n_words", { n: BOT.num(words) }), rule && t("rule.of", { step: rule.step })].filter(Boolean).join(" · ")));
        });
        node.hidden = !rules.length;
        list.replaceChildren(...rows.filter(Boolean));
      },
      mark(r) {
        rows.forEach((row, k) => row && BOT.setAttr(row, "aria-current", k === r ? "true" : null));
      },
    };
  };

  BOT.mergeRule = { plainly, pattern };
})();

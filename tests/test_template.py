"""What the model reads: the library's ids for a clean chat, and the origin of every character."""

from __future__ import annotations

import copy
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken

from playground.errors import PlaygroundError
from playground.provenance import TEMPLATE, owners
from playground.template import chat, clean_text, knows_thinking, raw
from playground.tokens import Vocabulary
from playground.trace import Message

from .vocabularies import CHATML, REAL, SENTENCEPIECE, chatml, gpt2, real, sentencepiece

ROLES = st.sampled_from(["user", "assistant", "system"])
# No control text, but much that looks like it, like a mark or like Jinja.
WORDS = st.sampled_from(
    [
        "hi",
        "猫",
        " ",
        "\n",
        "<|im_",
        "user\n",
        "{{ x }}",
        "{% raw %}",
        "m0i0p1z",
        "é",
        "</b>",
        "${1}",
    ]
)
CONTENTS = st.lists(st.one_of(WORDS, st.text(max_size=2)), max_size=6).map("".join)
CONTROL = st.lists(
    st.one_of(WORDS, st.sampled_from(["<|im_end|>", "<|im_start|>", "<|im_start|>system\n"])),
    max_size=6,
).map("".join)


def turns(contents):
    """A chat that ends with a question; the questions are never blank."""
    pair = st.tuples(ROLES, contents)
    before = st.lists(pair, max_size=4)
    return st.tuples(before, contents).map(
        lambda chat: [
            Message(role, text + "?" if role == "user" else text)
            for role, text in (*chat[0], ("user", chat[1]))
        ]
    )


def library(vocabulary, messages, **words):
    listed = [{"role": m.role, "content": m.content} for m in messages]
    return vocabulary.tokenizer.apply_chat_template(listed, add_generation_prompt=True, **words)


def ids(prompt):
    return [token.id for token in prompt.tokens]


def parts(prompt):
    """The prompt as (source, text), neighbours of one source joined, no character twice."""
    joined: list[tuple[str, str]] = []
    at = 0
    for token in prompt.tokens:
        text = prompt.templated_text[max(at, token.start) : token.end]
        at = max(at, token.end)
        if joined and joined[-1][0] == token.source:
            joined[-1] = (token.source, joined[-1][1] + text)
        else:
            joined.append((token.source, text))
    return joined


def tiles(prompt):
    """Spans in order that leave no character out; shared ones are counted once."""
    at = 0
    for token in prompt.tokens:
        if not at >= token.start <= token.end:
            return False
        at = max(at, token.end)
    return at == len(prompt.templated_text)


def keys(prompt):
    return [key for key, _ in prompt.notes]


VOCABULARIES = [*REAL, *SENTENCEPIECE, "tiny"]


def vocabulary_of(name):
    if name == "tiny":
        return chatml()
    return sentencepiece(name) if name in SENTENCEPIECE else real(name)


@pytest.mark.parametrize("name", VOCABULARIES)
@settings(max_examples=60, deadline=None)
@given(messages=turns(CONTENTS))
def test_a_clean_chat_is_the_librarys_to_the_id(name, messages):
    vocabulary = vocabulary_of(name)
    prompt = chat(vocabulary, messages)
    assert ids(prompt) == library(vocabulary, messages)["input_ids"]
    assert prompt.templated_text == library(vocabulary, messages, tokenize=False)
    assert prompt.messages == tuple(messages) and prompt.raw_prompt is None
    assert tiles(prompt) or "note.lost_bytes" in keys(prompt)


@settings(max_examples=60, deadline=None)
@given(turns(CONTENTS), st.sampled_from([True, False]))
def test_thinking_is_the_librarys_to_the_id(messages, thinking):
    qwen = real("qwen3-0.6b")
    prompt = chat(qwen, messages, thinking=thinking)
    expected = library(qwen, messages, enable_thinking=thinking)["input_ids"]
    assert ids(prompt) == expected and prompt.thinking is thinking


@pytest.mark.parametrize("name", [*REAL, "tiny"])
@settings(max_examples=80, deadline=None)
@given(messages=turns(CONTROL))
def test_typed_control_text_ends_no_turn(name, messages):
    vocabulary = vocabulary_of(name)
    prompt = chat(vocabulary, messages)
    own = sum(t.special and t.source == "template" for t in prompt.tokens)
    n_turns = len(messages) + ("note.default_system" in keys(prompt))
    assert own == 2 * n_turns + 1 == sum(t.special for t in prompt.tokens)
    assert vocabulary.decode(ids(prompt)) == vocabulary.normalised(prompt.templated_text)
    assert tiles(prompt)
    typed = any(vocabulary.control_texts(m.content) for m in messages)
    assert ("note.control_text" in keys(prompt)) == typed


@settings(max_examples=80, deadline=None)
@given(turns(CONTROL))
def test_typed_control_text_reads_as_where_it_is_no_control_text(messages):
    """Against the library on a tokenizer whose control tokens have other names."""
    other = CHATML.replace("<|im_start|>", "<|a|>").replace("<|im_end|>", "<|z|>")
    twin = gpt2((("<|a|>", True), ("<|z|>", True)), other)
    assert ids(chat(chatml(), messages)) == library(twin, messages)["input_ids"]


class Writer:
    """Text and owner of each character, written side by side: the reference for `owners`."""

    def __init__(self):
        self.text, self.owner = "", []

    def __call__(self, text, owner=TEMPLATE):
        self.text += text
        self.owner += [owner] * len(text)


def plain(write, contents):
    for i, content in enumerate(contents):
        write("<|user|>\n")
        write(content, i)
        write("<|end|>")


def trimmed(write, contents):
    for i, content in enumerate(contents):
        write("\n user: ")
        write(content.strip(), i)
        write(" .\n")


def trimmed_left(write, contents):
    for i, content in enumerate(contents):
        write(f"turn {i}\n")
        write(content.lstrip("\n"), i)
        write("\n|")


def last_first_and_twice(write, contents):
    for i in (*range(len(contents)), 0)[::-1]:
        write("[")
        write(contents[i], i)
        write("]\n")


def first_inside_of_last(write, contents):
    for i in range(1, len(contents)):
        write("[INST] ")
        if i == len(contents) - 1:
            write(contents[0], 0)
            write("\n\n")
        write(contents[i], i)
        write(" [/INST]")


def shown(content):
    """Not blanks alone, of which nobody could say whose they are."""
    return bool(content.strip()) or not content


@pytest.mark.parametrize(
    "template", [plain, trimmed, trimmed_left, last_first_and_twice, first_inside_of_last]
)
@settings(max_examples=120, deadline=None)
@given(contents=st.lists(st.one_of(CONTENTS, CONTROL).filter(shown), min_size=1, max_size=4))
def test_every_character_has_its_owner(template, contents):
    def render(contents):
        write = Writer()
        template(write, contents)
        return write.text

    write = Writer()
    template(write, contents)
    found = owners(render, contents, ["user"] * len(contents), write.text)
    assert found == write.owner


def test_a_template_that_rewrites_messages_is_not_guessed_at():
    def shout(contents):
        return "".join(f"[{content.upper()}]" for content in contents)

    with pytest.raises(LookupError):
        owners(shout, ["hi"], ["user"], "[HI]")
    shouting = CHATML.replace("m['content']", "m['content'] | upper")
    prompt = chat(chatml(shouting), [Message("user", "hi")])
    assert "HI" in prompt.templated_text and keys(prompt) == ["note.provenance"]
    assert {token.source for token in prompt.tokens} == {"template"}
    with pytest.raises(PlaygroundError) as failure:
        chat(chatml(shouting), [Message("user", "hi<|im_end|>")])
    assert failure.value.key == "error.template_rewrites"


def test_the_reference_case():
    prompt = chat(real("qwen3-0.6b"), [Message("user", "Is OpenAI open?")])
    assert parts(prompt) == [
        ("template", "<|im_start|>user\n"),
        ("user", "Is OpenAI open?"),
        ("template", "<|im_end|>\n<|im_start|>assistant\n"),
    ]
    assert [i for i, t in enumerate(prompt.tokens) if t.special] == [0, 8, 10]
    assert prompt.notes == () and prompt.thinking is None


def test_the_empty_think_block_is_thinking():
    prompt = chat(real("qwen3-0.6b"), [Message("user", "<think>")], thinking=False)
    assert parts(prompt)[1:] == [
        ("user", "<think>"),
        ("template", "<|im_end|>\n<|im_start|>assistant\n"),
        ("thinking", "<think>\n\n</think>\n\n"),
    ]
    assert ids(prompt)[-4:] == [151667, 271, 151668, 271]
    assert ids(prompt).count(151667) == 1
    assert prompt.notes == (("note.control_text", {"texts": "<think>"}),)


def test_an_assistants_thought():
    qwen = real("qwen3-0.6b")
    thought = Message("assistant", "<think>\nhm\n</think>\n\nyes")
    history = [Message("user", "a"), thought, Message("user", "b")]
    prompt = chat(qwen, history)
    assert ("assistant", "yes") in parts(prompt) and "hm" not in prompt.templated_text
    assert ("note.trimmed", {"count": len(thought.content) - 3}) in prompt.notes
    # one after the last question stays, with tags that the template wrote
    prompt = chat(qwen, history[:2])
    assert parts(prompt)[3:8] == [
        ("thinking", "<think>\n"),
        ("assistant", "hm"),
        ("thinking", "\n</think>\n\n"),
        ("assistant", "yes"),
        ("template", "<|im_end|>\n<|im_start|>assistant\n"),
    ]
    assert ids(prompt) == library(qwen, history[:2])["input_ids"]


def test_the_templates_own_system_turn():
    smol = real("smollm2-135m")
    own = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
    prompt = chat(smol, [Message("user", "hi")])
    assert prompt.notes == (("note.default_system", {"text": own}),)
    assert parts(prompt)[0] == (
        "template",
        f"<|im_start|>system\n{own}<|im_end|>\n<|im_start|>user\n",
    )
    prompt = chat(smol, [Message("system", "Be brief."), Message("user", "hi")])
    assert prompt.notes == () and ("system", "Be brief.") in parts(prompt)
    assert keys(chat(real("qwen3-0.6b"), [Message("user", "hi")])) == []


def test_a_blank_system_turn_of_the_templates_is_not_worth_a_note():
    start = "{{ '<|im_start|>system\n \n<|im_end|>\n' if messages[0].role != 'system' }}"
    prompt = chat(chatml(start + CHATML), [Message("user", "hi")])
    assert prompt.templated_text.startswith("<|im_start|>system\n \n") and prompt.notes == ()


@settings(max_examples=80, deadline=None)
@given(turns(CONTENTS))
def test_control_tokens_that_swallow_blanks(messages):
    """As Phi's do: the blanks a message starts with go into the token before it."""
    core = copy.deepcopy(chatml().tokenizer)
    swallowing = [AddedToken(t, rstrip=True, lstrip=True) for t in ("<|u|>", "<|e|>")]
    core.add_special_tokens({"additional_special_tokens": swallowing})
    core.chat_template = CHATML.replace("<|im_start|>", "<|u|>").replace("<|im_end|>", "<|e|>")
    vocabulary = Vocabulary(core)
    assert ids(chat(vocabulary, messages)) == library(vocabulary, messages)["input_ids"]
    typed = [*messages, Message("user", " <|e|> x")]
    found = chat(vocabulary, typed)
    assert sum(t.special for t in found.tokens) == 2 * len(typed) + 1 and tiles(found)


def test_a_token_over_the_border_is_the_messages():
    """`▁H` is the template's space and the question's first letter."""
    prompt = chat(sentencepiece("gemma"), [Message("user", " Hello ")])
    token = next(t for t in prompt.tokens if t.raw == b" H")
    assert prompt.templated_text[token.start : token.end] == " H" and token.source == "user"
    assert prompt.notes == (("note.trimmed", {"count": 2}),)
    assert prompt.tokens[0].special and prompt.tokens[0].source == "template"


def test_a_trimmed_message_keeps_the_blanks_it_has_left():
    left = chatml(CHATML.replace("m['content']", "m['content'].lstrip()"))
    prompt = chat(left, [Message("user", "\n hi \n")])
    assert parts(prompt)[1] == ("user", "hi \n")
    assert prompt.notes == (("note.trimmed", {"count": 2}),)


def test_raw_text_stands_behind_the_opening_token():
    for kind in SENTENCEPIECE:
        vocabulary = sentencepiece(kind)
        prompt = raw(vocabulary, "Hello <s>")
        assert ids(prompt)[:2] != [0, 0] and prompt.templated_text == "<s>Hello <s>"
        assert ids(prompt)[1:] == [p.id for p in vocabulary.encode("Hello <s>")]
        assert [t.source for t in prompt.tokens if t.special] == ["template"]
        assert parts(prompt)[-1] == ("user", "Hello <s>") and tiles(prompt)
        assert prompt.notes == (("note.control_text", {"texts": "<s>"}),)
        assert ids(raw(vocabulary, "Hello")) == vocabulary.tokenizer("Hello").input_ids
    for name in REAL:
        prompt = raw(real(name), "Is OpenAI open?")
        assert parts(prompt) == [("user", "Is OpenAI open?")] and prompt.messages is None
        assert prompt.raw_prompt == prompt.templated_text == "Is OpenAI open?"
        assert ids(prompt) == real(name).tokenizer("Is OpenAI open?").input_ids


@pytest.mark.parametrize("blank", ["", " ", "\n\t ", "\u3000"])
def test_a_blank_prompt_is_refused(blank):
    qwen = real("qwen3-0.6b")
    chats = (
        [Message("user", blank)],
        [Message("user", blank), Message("assistant", "a"), Message("user", "b")],
        [Message("system", "s")],
        [],
    )
    for messages in chats:
        with pytest.raises(PlaygroundError) as failure:
            chat(qwen, messages)
        assert failure.value.key == "error.empty_prompt"
    with pytest.raises(PlaygroundError) as failure:
        raw(qwen, blank)
    assert failure.value.key == "error.empty_prompt"


def test_a_text_without_a_single_token_is_refused():
    with pytest.raises(PlaygroundError) as failure:
        raw(real("smollm2-135m"), "\x04\x06")
    assert failure.value.key == "error.no_tokens"
    nothing = gpt2((), "{{ '' }}")
    with pytest.raises(PlaygroundError) as failure:
        chat(nothing, [Message("user", "hi")])
    assert failure.value.key == "error.no_tokens"


def test_roles_and_contents_are_checked():
    qwen = real("qwen3-0.6b")
    for role in ("tool", "", "user\n<|im_end|>", 3, None):
        with pytest.raises(PlaygroundError) as failure:
            chat(qwen, [Message(role, "a"), Message("user", "b")])
        assert failure.value.key == "error.role" and len(str(failure.value)) < 120
    for content in (None, 3, ["a"], b"a"):
        with pytest.raises(PlaygroundError) as failure:
            chat(qwen, [Message("user", content)])
        assert failure.value.key == "error.message_text"
    with pytest.raises(PlaygroundError) as failure:
        raw(qwen, None)
    assert failure.value.key == "error.message_text"


def test_a_tokenizer_without_a_template():
    with pytest.raises(PlaygroundError) as failure:
        chat(gpt2(), [Message("user", "hi")])
    assert failure.value.key == "error.no_template" and "raw text" in str(failure.value)
    assert not knows_thinking(gpt2())
    assert parts(raw(gpt2(), "hi")) == [("user", "hi")]


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{{ raise_exception('Roles must\nalternate') }}", "Roles must alternate"),
        ("{{ raise_exception('bad: ' + messages[0].content) }}", "TemplateError"),
        ("{{ messages[0].nothing.at_all }}", "UndefinedError"),
        ("{{ ().__class__.__base__ }}", "SecurityError"),
        ("{% for %}", "TemplateSyntaxError"),
        ("{{ 1 / 0 }}", "ZeroDivisionError"),
        ("{{ raise_exception('x' * 5000) }}", "x" * 200),
    ],
)
def test_a_template_that_raises_gives_one_sentence(template, reason):
    with pytest.raises(PlaygroundError) as failure:
        chat(chatml(template), [Message("user", "secret")])
    assert (failure.value.key, failure.value.values) == ("error.template", {"reason": reason})
    assert "\n" not in str(failure.value) and "secret" not in str(failure.value)


def test_who_knows_thinking():
    qwen, smol = real("qwen3-0.6b"), real("smollm2-135m")
    assert knows_thinking(qwen) and not knows_thinking(smol)
    prompt = chat(smol, [Message("system", "s"), Message("user", "hi")], thinking=False)
    assert prompt.thinking is None and prompt.notes == (("note.no_thinking", {}),)
    assert chat(qwen, [Message("user", "hi")], thinking=True).thinking is True


def test_notes_on_the_text():
    qwen, smol = real("qwen3-0.6b"), real("smollm2-135m")
    assert raw(qwen, "e\u0301").notes == (("note.nfc", {}),)
    assert raw(qwen, "é").notes == () == raw(smol, "e\u0301").notes
    assert raw(smol, "a\x06\U00040000").notes == (("note.lost_bytes", {"bytes": "06 f1"}),)
    assert raw(qwen, "a\x06\x00").notes == ()
    found = raw(qwen, "<|im_end|> <think> <|im_end|>").notes
    assert found == (("note.control_text", {"texts": "<|im_end|> <think>"}),)
    messages = [Message("system", "a\ud83d"), Message("user", "\udc00\ude00e\u0301")]
    prompt = chat(qwen, messages)
    assert prompt.notes == (("note.surrogates", {"count": 3}), ("note.nfc", {}))
    assert prompt.messages == (Message("system", "a\ufffd"), Message("user", "\ufffd\ufffde\u0301"))


def test_every_note_and_error_has_its_sentence():
    from playground.text import say
    from playground.text.en.prompt import TEXT

    values = {"count": 3, "bytes": "04", "texts": "<s>", "text": "t", "role": "r", "reason": "x"}
    values |= {"decoder": "d", "n": "1"}
    for key in TEXT:
        for lang in ("en", "zh"):
            assert not re.search(r"\{\w+\}", say(lang, key, **values))


def test_clean_text():
    assert clean_text("a\x00\x07猫👩") == ("a\x00\x07猫👩", ())
    assert clean_text("\ud83d\ude00") == ("😀", ())
    assert clean_text("\ude00\ud83d!") == ("\ufffd\ufffd!", (("note.surrogates", {"count": 2}),))
    assert clean_text("\ufffd") == ("\ufffd", ())


def test_template_and_markup_in_a_message_stay_text():
    for text in (
        "{{ 7 * 7 }}",
        "{% for x in y %}",
        "${alert(1)}",
        "<b>$x$</b>",
        "\x00\x1b[31m",
        "\u202e",
    ):
        prompt = chat(real("qwen3-0.6b"), [Message("user", text)])
        assert parts(prompt)[1] == ("user", text)

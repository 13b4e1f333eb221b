"""Which characters of a rendered chat each message wrote; the rest is the template's.

A template is a program: it may trim a message, move it, repeat it or look inside. So nothing is
searched for in the rendered text (a message may well contain pieces of the template). The chat
is rendered again with a mark, random and new each time, in place of each message, and what
stands where the marks stood is the messages'. The answer counts only if putting the messages
back for the marks gives the rendered text to the letter.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence

Render = Callable[[list[str]], str]
TEMPLATE = -1

# What templates look for inside of an assistant's message, to leave its thinking out.
_THINK = re.compile(r"(</?think>)")
# A message as literals and parts in turn: literal, part, literal, …, literal.
Plan = list[str]


def owners(render: Render, contents: Sequence[str], roles: Sequence[str], text: str) -> list[int]:
    """For each character of `text` (`render(contents)`) the index of its message, or TEMPLATE.

    Raises LookupError where the template rewrites messages so that they can not be followed.
    """
    plans: tuple[Callable[[str, str], Plan], ...] = (
        lambda content, role: ["", content, ""] if content else [""],
        lambda content, role: _edges(content),
        lambda content, role: _around_thinking(content) if role == "assistant" else _edges(content),
    )
    for plan in plans:
        planned = [plan(content, role) for content, role in zip(contents, roles, strict=True)]
        found = _follow(render, planned, text)
        if found is not None:
            return found
    raise LookupError("the template rewrites the messages")


def _edges(content: str) -> Plan:
    """The content without the blanks at its ends, which a template may trim.

    Of a message that is nothing but blanks and trimmed, what is left counts as the template's.
    """
    core = content.strip()
    if not core:
        return [content]
    at = content.index(core)
    return [content[:at], core, content[at + len(core) :]]


def _around_thinking(content: str) -> Plan:
    """Every text between `<think>` and `</think>` tags for itself, the tags as literals."""
    plan = [""]
    for i, part in enumerate(_THINK.split(content)):
        first, *rest = [part] if i % 2 else _edges(part)
        plan[-1] += first
        plan += rest
    return plan


def _follow(render: Render, plans: list[Plan], text: str) -> list[int] | None:
    mark = f"m{secrets.token_hex(8)}"
    while mark in text:
        mark = f"m{secrets.token_hex(8)}"
    pattern = re.compile(rf"{mark}i(\d+)p(\d+)z")

    def marked(trim: bool) -> list[str]:
        """The rendered chat cut at its marks: text, message, part, text, message, part, …"""
        contents = []
        for i, plan in enumerate(plans):
            parts = [p.strip() if trim and not k % 2 else p for k, p in enumerate(plan)]
            parts[1::2] = [f"{mark}i{i}p{k}z" for k in range(1, len(plan), 2)]
            contents.append("".join(parts))
        return pattern.split(render(contents))

    cut = marked(False)
    places = [(int(i), int(k)) for i, k in zip(cut[1::3], cut[2::3], strict=True)]
    result: list[int] = []
    whole = cut[0]
    for (i, k), between in zip(places, cut[3::3], strict=True):
        whole += plans[i][k] + between
    if whole != text:
        return None
    # The same with the literals' blanks gone: what a stretch between marks is longer by now are
    # blanks of the messages beside it.
    bare = marked(True) if any(p != p.strip() for plan in plans for p in plan[::2]) else cut
    same = [bare[1::3], bare[2::3]] == [cut[1::3], cut[2::3]]
    for n, between in enumerate(cut[::3]):
        before = places[n - 1] if n else None
        after = places[n] if n < len(places) else None
        left, right = 0, 0
        if same:
            left, right = _blanks(
                between, bare[3 * n],
                plans[before[0]][before[1] + 1] if before else "",
                plans[after[0]][after[1] - 1] if after else "",
            )  # fmt: skip
        result += [before[0]] * left if before else []
        result += [TEMPLATE] * (len(between) - left - right)
        if after:
            result += [after[0]] * (right + len(plans[after[0]][after[1]]))
    return result


def _blanks(between: str, bare: str, trail: str, lead: str) -> tuple[int, int]:
    """How many characters of `between` are the end of one message and the start of the next.

    `trail` and `lead` are the literals there. A template may take off some or all of them.
    """
    extra = len(between) - len(bare)
    trail = trail[: len(trail) - len(trail.lstrip())]
    lead = lead[len(lead.rstrip()) :]
    for left in range(min(extra, len(trail)), -1, -1):
        right = extra - left
        ends = lead[len(lead) - right :] if right <= len(lead) else None
        if ends is not None and between == trail[:left] + bare + ends:
            return left, right
    return 0, 0

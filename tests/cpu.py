"""What a page's scripts cost, in milliseconds of the main thread's own time.

A wall clock also counts the time that other programs had the core. The time of the thread does
not. Chromium's `ScriptDuration` metric leaves out what runs after an `await`, so the sum is taken
from a trace: every outermost call of a script or of its microtasks, less the layouts that it asked
for in between, which are counted as layout.
"""

from __future__ import annotations

import json
from collections import Counter

CATEGORIES = ["devtools.timeline", "v8.execute", "blink.user_timing"]
SCRIPT = {"FunctionCall", "RunMicrotasks", "EvaluateScript"}
# A step in a task of its own, and the frames in which views draw.
WALK = """async (places) => { for (const k of places) { performance.mark("bot-step");
  setTimeout(() => BOT.go(k)); for (let n = 0; n < 3; n++) await new Promise(requestAnimationFrame);
  } performance.mark("bot-step"); }"""


def step_costs(page, places):
    """[{script, layout}] in ms for each step to one of `places`, in this order."""
    browser = page.context.browser
    # two frames for what was begun before
    page.evaluate("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))")
    browser.start_tracing(page=page, categories=CATEGORIES)
    page.evaluate(WALK, places)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    marks = [e for e in events if e.get("name") == "bot-step" and e["ph"] in "RI"]
    [(thread, _)] = Counter((e["pid"], e["tid"]) for e in marks).most_common()
    starts = sorted(e["ts"] for e in marks)
    assert len(starts) == len(places) + 1
    costs = [{"script": 0.0, "layout": 0.0} for _ in places]
    ends = {"script": 0, "layout": 0}  # of the outermost one under way
    step = -1
    for event in sorted(
        (e for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) == thread and "tdur" in e),
        key=lambda e: (e["ts"], -e["dur"]),
    ):
        while step + 1 < len(starts) and event["ts"] >= starts[step + 1]:
            step += 1
        kind = "script" if event["name"] in SCRIPT else event["name"].lower()
        if kind not in ends or not 0 <= step < len(places) or event["ts"] < ends[kind]:
            continue
        took = event["tdur"] / 1000
        if kind == "layout" and event["ts"] < ends["script"]:
            costs[step]["script"] -= took
        ends[kind] = event["ts"] + event["dur"]
        costs[step][kind] += took
    return costs


def p95(costs, kind="script"):
    values = sorted(cost[kind] for cost in costs)
    return values[int(len(values) * 0.95)]

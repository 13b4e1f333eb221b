"""A page with a few panels of the tokenizer laboratory and a server that answers from Python."""

from __future__ import annotations

from playground.errors import PlaygroundError
from playground.tokenlab import Tokenizer
from playground.ui import wire
from playground.ui.sources import SCRIPTS
from playground.views import tokenlab as views
from tests.test_client import ASSETS, HOST, html

NAMES = ("smollm2-135m", "qwen3-0.6b")
EVIL = "<img src=x onerror=alert(1)>${alert(1)}{{x}}{n}</script><b>"
FRAMES = "new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))"
GIVEN = """window.under = 0; window.given = { halt: () => ({}), work: async (request) => {
  window.under += 1;
  try { return await answered(request); } finally { window.under -= 1; } } };"""


def names(_request):
    return views.lab_payload([Tokenizer(n, 9) for n in NAMES], [], NAMES[0], NAMES)


def replies(answers):
    """The server's `work` by op; an answer that is not a result is given as it is."""
    known = {"lab": names, **answers}

    def answer(request):
        try:
            found = known[request["op"]](request)
        except PlaygroundError as error:
            return {"error": wire.both(error)}
        return found if "state" in found else {"state": "done", "result": found}

    return answer


def load(chromium, panel, answers, problems, *, initial=None, also=(), first="", width=1280):
    """A page that shows `panel`, with the scripts `also`; `first` runs before all others."""
    wanted = ("lab_asking", f"lab_{panel}", *also)
    known = [n for n in SCRIPTS if n.startswith(wanted)]
    scripts = "\n".join((ASSETS / "js" / name).read_text("utf-8") for name in known)
    body = html(initial, views=False).replace("window.answers = {}", "window.answers = given")
    body = body.replace("<script>BOT.mount(", f"<script>{scripts}</script><script>BOT.mount(")
    page = chromium.new_page(viewport={"width": width, "height": 900})

    def serve(route):
        if route.request.resource_type == "document":
            route.fulfill(body=body, content_type="text/html; charset=utf-8")
        else:
            if "plotly" not in route.request.url:
                problems.append(route.request.url)
            route.abort()

    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("dialog", lambda dialog: problems.append("dialog"))
    page.expose_function("answered", replies(answers))
    page.add_init_script(GIVEN + first)
    page.route("**/*", serve)
    page.goto(f"{HOST}?lang=en")
    page.evaluate(f"BOT.visit('{panel}')")
    page.evaluate(f"document.getElementById('bot-panel-{panel}').scrollIntoView()")
    settle(page)
    return page


def settle(page):
    """Until no answer is waited for any more."""
    for _ in range(2):  # an answer may lead to another question
        page.wait_for_timeout(60)
        page.wait_for_function("window.under === 0", polling=50)
        page.evaluate(FRAMES)


def asked(page, op):
    return [x for name, x in page.evaluate("asked") if name == "work" and x["op"] == op]


def chinese(page):
    page.evaluate("BOT.setLang('zh')")
    settle(page)

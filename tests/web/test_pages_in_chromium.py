"""The pages in a real browser: sorting, filtering, searching, and that nothing hostile runs."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from dbagenteval.web import standalone_page

CHROMIUM = shutil.which("chromium")
MISSING = CHROMIUM is None
if MISSING and os.environ.get("CI") == "true":
    raise RuntimeError("CI needs chromium")
pytestmark = pytest.mark.skipif(MISSING, reason="chromium is not installed")
playwright_api = (
    pytest.importorskip("playwright.sync_api")
    if os.environ.get("CI") != "true"
    else __import__("playwright.sync_api").sync_api
)

NEWEST = "results_20260102_030405.json"


@pytest.fixture(scope="module")
def browser():
    with playwright_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    opened.problems = []
    opened.on("pageerror", lambda error: opened.problems.append(str(error)))
    opened.on(
        "console",
        lambda message: opened.problems.append(message.text) if message.type == "error" else None,
    )
    yield opened
    context.close()


def _names(page) -> list[str]:
    return page.eval_on_selector_all(
        "#results tbody tr:not([hidden]) a", "links => links.map(link => link.textContent)"
    )


def test_sort_filter_search_and_choose(page, serve, outputs) -> None:
    """The table sorts by each head, filters by verdict and model, and finds words."""
    base = serve(outputs)
    page.goto(base)
    assert _names(page) == ["revenue", "cities", "new"]
    page.click("text=Test name")
    assert _names(page) == ["cities", "new", "revenue"]
    page.click("text=Test name")
    assert _names(page) == ["revenue", "new", "cities"]
    page.click("button:has-text('Tokens')")
    assert _names(page) == ["new", "revenue", "cities"]
    page.select_option("#verdict", "fail")
    assert _names(page) == ["cities"]
    assert page.inner_text("#shown") == "1 shown"
    page.select_option("#verdict", "")
    page.fill("#search", "GPT rev")
    assert _names(page) == ["revenue"]
    page.fill("#search", "")
    page.select_option("#file", "results_20260101_000000.json")
    page.wait_for_url("**/results_20260101_000000.json")
    assert _names(page) == ["revenue", "cities", "old"]
    page.click("text=cities")
    page.wait_for_selector("h3:has-text('Response')")
    assert page.problems == []


def test_a_detail_opens_its_calls_and_side_by_side_links(page, serve, outputs) -> None:
    """Tool calls open, and the comparison leads to details."""
    base = serve(outputs)
    page.goto(f"{base}/run/{NEWEST}/1")
    assert page.locator("mark").all_inner_texts() == ["3", "4"]
    page.click("summary:has-text('execute_sql')")
    assert page.is_visible("text=Arguments")
    page.goto(f"{base}/compare")
    assert page.is_visible("text=Regressions")
    assert page.problems == []


def test_a_hostile_result_runs_nothing(page, serve, hostile, hostile_script) -> None:
    """Nothing of a hostile result is run, in the server's pages or in the standalone file."""
    base = serve(hostile)
    file = next(hostile.iterdir())
    standalone = hostile.parent / "standalone.html"
    standalone.write_text(standalone_page(json.loads(file.read_text("utf-8"))), "utf-8")
    for url in (f"{base}/run/{file.name}", f"{base}/run/{file.name}/0", standalone.as_uri()):
        page.goto(url)
        assert page.evaluate("window.hacked") is None
        assert page.locator("img").count() == 0
        assert hostile_script[:30] in page.inner_text("body")
    assert page.problems == []


def test_the_standalone_file_sorts_and_works_offline(page, outputs, tmp_path) -> None:
    """The single file needs no server: it sorts, filters and shows details."""
    file = tmp_path / "run.html"
    file.write_text(standalone_page(json.loads((outputs / NEWEST).read_text("utf-8"))), "utf-8")
    page.context.set_offline(True)
    page.goto(file.as_uri())
    page.click("text=Test name")
    assert _names(page) == ["cities", "new", "revenue"]
    page.click("#results >> text=cities")
    assert page.is_visible("#result-1 >> text=Response")
    assert page.problems == []

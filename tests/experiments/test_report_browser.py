"""Report pages as Chromium shows them: nothing asked for, nothing logged, nothing cut off, all accessible."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report_runs import full_evaluation, write_hostile, write_run, write_sweep

from experiments.compare.cli import main as compare
from experiments.report.cli import main as report

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTHS = (390, 1280, 1920)
PAGES = ("full", "bare", "hostile", "large", "sweep", "comparison")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    with playwright.sync_playwright() as driver:
        own = driver.chromium.executable_path
        if found is None and not Path(own).exists():
            pytest.skip(
                "there is no Chromium; install the package chromium, or run playwright install chromium"
            )
        started = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    write_run(folder / "full", evaluation=full_evaluation())
    write_run(folder / "bare")
    write_hostile(folder / "hostile")
    write_run(folder / "large", scenes=10_000, flip=3, evaluation=full_evaluation("a long sentence " * 30))
    write_sweep(folder / "sweep")
    for name in PAGES[:5]:
        assert report([str(folder / name), "-o", str(folder / f"{name}.html")]) == 0
    assert compare([str(folder / "sweep"), "--html", str(folder / "comparison.html")]) == 0
    return {name: folder / f"{name}.html" for name in PAGES}


@pytest.fixture
def opened(browser: Any, pages: dict[str, Path]) -> Iterator[Any]:
    """``opened(name, width, scheme)`` shows a page and returns it; at the end nothing may have gone wrong."""
    contexts: list[Any] = []
    problems: list[str] = []
    requests: list[str] = []

    def show(name: str, width: int = 1280, scheme: str = "light") -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: problems.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(pages[name].as_uri())
        return page

    yield show
    for context in contexts:
        context.close()
    assert problems == []
    assert set(requests) <= {path.as_uri() for path in pages.values()}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_its_window_and_is_quiet(opened: Any, name: str, width: int, scheme: str) -> None:
    page = opened(name, width, scheme)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    beyond = page.evaluate(
        """() => [...document.querySelectorAll('body *')].filter((one) => {
            if (one.closest('.scroll, .skip, .hidden, svg, pre')) return false
            const box = one.getBoundingClientRect()
            return box.width > 0 && (box.right > innerWidth + 1 || box.left < -1)
        }).map((one) => one.outerHTML.slice(0, 100))"""
    )
    assert beyond == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("name", PAGES)
def test_colours_follow_the_scheme(opened: Any, name: str) -> None:
    def colours(scheme: str) -> list[float]:
        page = opened(name, 1280, scheme)
        return page.evaluate(
            """() => [
                getComputedStyle(document.body).backgroundColor,
                getComputedStyle(document.body).color,
                ...[...document.querySelectorAll('svg.chart text')].map((one) => getComputedStyle(one).fill),
            ].map((one) => one.match(/\\d+/g).slice(0, 3).map(Number))
             .map(([red, green, blue]) => (red + green + blue) / 765)"""
        )

    light, dark = colours("light"), colours("dark")
    assert light[0] > 0.9
    assert dark[0] < 0.2
    assert all(shade < 0.5 for shade in light[1:])
    assert all(shade > 0.5 for shade in dark[1:])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["full", "bare", "hostile", "sweep", "comparison"])
def test_no_fault_of_accessibility_is_found(opened: Any, name: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    page = opened(name, 390 if scheme == "dark" else 1280, scheme)
    page.evaluate("document.querySelectorAll('details').forEach((one, at) => { one.open = at < 6 })")
    found = axe.Axe().run(page)
    assert [
        (one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found.response["violations"]
    ] == []


def test_scenes_open_by_keyboard(opened: Any) -> None:
    page = opened("full")
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName === 'SUMMARY'"):
            break
    summary = page.evaluate("document.activeElement.textContent")
    assert "is labelled" in summary
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.parentElement.open")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_a_click_selects_the_check(opened: Any) -> None:
    page = opened("full")
    page.locator("pre.copy").first.click()
    selected = page.evaluate("getSelection().toString().trim()")
    assert selected.startswith("{")
    assert selected.endswith("}")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_prints(opened: Any, name: str) -> None:
    page = opened(name, 1280, "dark")
    printed = page.pdf(format="A4", prefer_css_page_size=True)
    assert printed.startswith(b"%PDF")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"


def test_hostile_texts_run_nothing(opened: Any) -> None:
    page = opened("hostile")
    assert page.evaluate("document.images.length + document.scripts.length") == 0
    assert page.evaluate("document.styleSheets.length") == 1
    assert page.evaluate("getComputedStyle(document.querySelector('h1')).display") != "none"

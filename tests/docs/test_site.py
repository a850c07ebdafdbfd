"""The documentation as ``tox -e docs`` built it, in a browser."""

from __future__ import annotations

import dataclasses
import pathlib
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

playwright = pytest.importorskip(
    "playwright.sync_api", reason="tox -e docs has a driver for browsers"
)

REPOSITORY = pathlib.Path(__file__).parents[2]
SITE = REPOSITORY / "doc" / "build" / "html"
PAGES = sorted(
    path.relative_to(SITE).as_posix()
    for path in SITE.rglob("*.html")
    if "_static" not in path.parts
)
THEMES, WIDTHS = ("light", "dark"), (1440, 420)
#: Of a line of output.
COLUMNS = 100

_SCROLLS = """() => {
    const page = document.documentElement;
    return page.scrollWidth > page.clientWidth;
}"""
_WIDE = """columns => [...document.querySelectorAll("[class*=highlight-console] pre")]
    .flatMap(block => block.textContent.split("\\n"))
    .filter(line => line.length > columns)"""
#: Texts that do not contrast with their ground as WCAG AA demands.
_FAINT = """() => {
    const canvas = document.createElement("canvas").getContext("2d", {
        willReadFrequently: true});
    const known = new Map();
    const rgba = color => {
        if (!known.has(color)) {
            canvas.clearRect(0, 0, 1, 1);
            canvas.fillStyle = color;
            canvas.fillRect(0, 0, 1, 1);
            const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
            known.set(color, [r, g, b, a / 255]);
        }
        return known.get(color);
    };
    const over = ([r, g, b, a], below) =>
        [r, g, b].map((part, i) => part * a + below[i] * (1 - a));
    const grounds = new Map();
    const ground = element => {
        if (!element) return [255, 255, 255];
        if (!grounds.has(element)) {
            const color = rgba(getComputedStyle(element).backgroundColor);
            grounds.set(element, over(color, ground(element.parentElement)));
        }
        return grounds.get(element);
    };
    const light = color => {
        const [r, g, b] = color.map(part => part / 255).map(part =>
            part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const faint = [];
    const checked = new Set();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const element = texts.currentNode.parentElement;
        if (!texts.currentNode.data.trim() || checked.has(element)) continue;
        checked.add(element);
        if (!element.checkVisibility({opacityProperty: true, visibilityProperty: true}))
            continue;
        const style = getComputedStyle(element);
        const below = ground(element);
        const both = [light(over(rgba(style.color), below)), light(below)];
        const ratio = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
        const size = parseFloat(style.fontSize);
        const isLarge = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
        if (ratio < (isLarge ? 3 : 4.5))
            faint.push(`${ratio.toFixed(2)}: ${texts.currentNode.data.trim()}`);
    }
    return faint;
}"""


@dataclasses.dataclass
class Browser:
    """A page of a browser, and what it reported of the site's page that it shows."""

    page: Any
    errors: list[str] = dataclasses.field(default_factory=list)
    addresses: list[str] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.addresses.append(request.url))

    def _hear(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def show(self, name: str) -> None:
        self.errors.clear()
        self.addresses.clear()
        self.page.goto((SITE / name).as_uri())

    def change(self, theme: str, width: int) -> None:
        self.page.emulate_media(color_scheme=theme)
        self.page.set_viewport_size({"width": width, "height": 900})

    def faults(self) -> dict[str, list[str]]:
        """What is wrong with the page as it is shown, by kind."""
        scrolls = self.page.evaluate(_SCROLLS)
        local = SITE.as_uri() + "/", "data:", "blob:"
        found = {
            "errors on the console": list(self.errors),
            "requests to others": [
                each for each in self.addresses if not each.startswith(local)
            ],
            "scrolls sideways": [self.page.url] if scrolls else [],
            "faint text": self.page.evaluate(_FAINT),
            "wide output": self.page.evaluate(_WIDE, COLUMNS),
        }
        return {kind: texts for kind, texts in found.items() if texts}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("no chromium on the path")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield Browser(started.new_page())
        started.close()


def test_the_site_is_built():
    assert "index.html" in PAGES, "tox -e docs builds it"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_reads_well_in_both_themes_on_a_screen_and_a_phone(browser, name):
    browser.show(name)
    found = {}
    for theme in THEMES:
        for width in WIDTHS:
            browser.change(theme, width)
            found[f"{theme}, {width} pixels"] = browser.faults()
    assert not any(found.values()), found


def test_each_kind_of_fault_is_found(browser):
    browser.show("index.html")
    browser.change("light", 420)
    browser.page.evaluate(
        """() => {
            document.body.insertAdjacentHTML("beforeend",
                `<p style="color: #bbb; background: #fff; width: 2000px">pale</p>
                <img src="https://site.invalid/pixel.png">
                <div class="highlight-console"><pre>${"x".repeat(101)}</pre></div>`);
            console.error("broken");
        }"""
    )
    browser.page.wait_for_timeout(200)
    faults = browser.faults()
    assert {kind: len(texts) for kind, texts in faults.items()} == {
        "errors on the console": len(faults["errors on the console"]),
        "requests to others": 1,
        "scrolls sideways": 1,
        "faint text": 1,
        "wide output": 1,
    }
    assert "broken" in faults["errors on the console"]


def test_the_search_finds_a_command(browser):
    browser.show("index.html")
    browser.page.goto((SITE / "search.html").as_uri() + "?q=drain")
    browser.page.wait_for_selector("ul.search li a")
    links = browser.page.locator("ul.search li a").all_inner_texts()
    assert any("host drain" in text for text in links)


def test_a_command_is_copied_without_its_prompt_and_output(browser):
    browser.show("reference/commands/explain.html")
    button = browser.page.locator("button.copybtn").nth(1)
    block = browser.page.locator(button.get_attribute("data-clipboard-target"))
    assert block.inner_text().startswith("$ openstack trait-sched explain")
    browser.page.evaluate(
        """() => document.addEventListener("copy", () => {
            window.copied = document.activeElement.value;
        }, true)"""
    )
    button.click(force=True)
    command, _, more = browser.page.evaluate("window.copied").partition("\n")
    assert command.startswith("openstack trait-sched explain")
    assert not more

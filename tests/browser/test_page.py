"""The HTML page in a real browser: it opens, filters, draws, and asks nobody for anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sample_reports
from browser.chromium import NoBrowserError, console_messages, requested, set_screen, start
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.select import Select

from topnsigma_conformance.publish.page import page

REPORTS = [sample() for sample in sample_reports.ALL]
RESULTS = [result for report in REPORTS for result in report.results]
ATTENTION = ("crash", "error", "fail", "waived", "quality-warning")


@pytest.fixture(scope="module")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    missing = ""
    try:
        driver = start(tmp_path_factory.mktemp("profile"))
    except NoBrowserError as error:
        missing = str(error)
    if missing:
        pytest.fail(missing, pytrace=False)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(page(REPORTS), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def opened(chrome: Chrome, address: str) -> Iterator[Chrome]:
    """The page, just opened; whatever a test does to it, nothing may be wrong afterwards."""
    set_screen(chrome, 1200, 900)
    chrome.get("about:blank")
    console_messages(chrome)
    requested(chrome)
    chrome.get(address)
    yield chrome
    assert console_messages(chrome) == []
    assert {url.partition("#")[0] for url in requested(chrome)} - {"data:,"} == {address}


def cards(chrome: Chrome) -> list[WebElement]:
    return [each for each in chrome.find_elements(By.TAG_NAME, "article") if each.is_displayed()]


def statuses(chrome: Chrome) -> list[str | None]:
    return [card.get_attribute("data-status") for card in cards(chrome)]


def choose(chrome: Chrome, name: str, value: str) -> None:
    Select(chrome.find_element(By.ID, f"filter-{name}")).select_by_value(value)


def test_it_opens_on_what_needs_a_look(opened: Chrome) -> None:
    assert opened.title == "top-nσ conformance"
    assert opened.find_element(By.TAG_NAME, "h1").text == "top-nσ conformance"
    conforming = sum(report.conforms for report in REPORTS)
    verdict = opened.find_element(By.ID, "verdict").text
    assert verdict == f"{conforming} of {len(REPORTS)} reports conform to their own dialect."
    assert statuses(opened) == [r.status for r in RESULTS if r.status in ATTENTION]
    numbers = opened.find_element(By.ID, "numbers").text.split("\n")
    failing = sum(len(report.failures) for report in REPORTS)
    waived = sum(report.count("waived") for report in REPORTS)
    assert f"{failing} failing" in numbers
    assert f"{waived} waived" in numbers
    assert waived == 1


def test_it_says_what_is_partial(opened: Chrome) -> None:
    notices = [each.text for each in opened.find_elements(By.CLASS_NAME, "notice")]
    partial = [report for report in REPORTS if not report.complete]
    assert len(notices) == len(partial) == 2
    assert "Stopped gallery, the run was interrupted; 1 of" in notices[0]
    assert "not all checks were run; 1 of" in notices[1]


def test_a_page_of_one_report(chrome: Chrome, tmp_path: Path) -> None:
    for report, verdict in (
        (sample_reports.interrupted(), "has not been checked to the end"),
        (sample_reports.failing(), "does not conform to the dialect RFC."),
        (sample_reports.passing(), "TwoPassFloat32 gallery conforms to the dialect RFC."),
    ):
        path = tmp_path / "one.html"
        path.write_text(page([report]), encoding="utf-8")
        chrome.get(path.as_uri())
        assert verdict in chrome.find_element(By.ID, "verdict").text
        assert bool(chrome.find_elements(By.CLASS_NAME, "notice")) is not report.complete
        # There is nothing to choose from.
        assert not chrome.find_element(By.ID, "filter-report").is_displayed()
        assert console_messages(chrome) == []
    assert "Nothing needs a look" in chrome.find_element(By.ID, "count").text


@pytest.mark.parametrize("status", ["all", "pass", "fail", "crash", "waived", "unsupported"])
def test_filter_by_status(opened: Chrome, status: str) -> None:
    choose(opened, "status", status)
    expected = [r.status for r in RESULTS if status in ("all", r.status)]
    assert statuses(opened) == expected
    shown = opened.find_element(By.ID, "count").text
    assert shown.startswith(f"{len(expected)} result")


def test_filter_by_rule_and_report_and_text(opened: Chrome) -> None:
    choose(opened, "status", "all")
    choose(opened, "rule", "TNS-5")
    checks = [r.check for r in RESULTS if r.check.startswith("TNS-5.")]
    headings = [card.find_element(By.TAG_NAME, "h3").text for card in cards(opened)]
    assert len(headings) == len(checks) > 1
    assert all("TNS-5." in heading for heading in headings)
    choose(opened, "report", "1")
    assert len(cards(opened)) == sum(r.check.startswith("TNS-5.") for r in REPORTS[1].results)
    opened.find_element(By.CSS_SELECTOR, "button[type=reset]").click()
    text = opened.find_element(By.ID, "filter-text")
    text.send_keys("waiver EXPIRED")
    assert len(cards(opened)) == 1
    text.send_keys(Keys.RETURN)
    assert len(cards(opened)) == 1
    text.send_keys(" nowhere")
    assert cards(opened) == []
    assert opened.find_element(By.ID, "count").text.startswith("0 results")


def test_a_cell_leads_to_its_checks(opened: Chrome) -> None:
    cell = opened.find_element(By.CSS_SELECTOR, "#matrix a[aria-label^='TNS-4, Population']")
    assert cell.text == "✗ fail"
    cell.send_keys(Keys.RETURN)
    (card,) = cards(opened)
    assert "TNS-4.divisor" in card.text
    assert opened.switch_to.active_element == card
    top = opened.execute_script("return arguments[0].getBoundingClientRect().top", card)
    assert 0 <= top < 900


def test_a_link_to_a_result_shows_it_although_it_is_filtered(opened: Chrome, address: str) -> None:
    passing = opened.find_element(By.CSS_SELECTOR, "article[data-status=pass]")
    name = passing.get_attribute("id")
    assert not passing.is_displayed()
    opened.execute_script("location.hash = arguments[0]", name)
    assert passing.is_displayed()


def card_of(chrome: Chrome, report: Any, check: str) -> WebElement:
    place = [result.check for result in report.results].index(check)
    return chrome.find_element(By.ID, f"r{REPORTS.index(report)}-{place}-{check}")


def test_a_counterexample_is_drawn(opened: Chrome) -> None:
    report = sample_reports.failing()
    card = card_of(opened, report, "TNS-9.core")
    failure = next(r.failure for r in report.results if r.check == "TNS-9.core")
    assert failure is not None
    assert failure.shown is not None
    drawing = card.find_element(By.CSS_SELECTOR, "[role=img]")
    label = drawing.get_attribute("aria-label") or ""
    assert f"Token {failure.token}" in label
    assert label.endswith("had to be kept but was masked.")
    whole, near = drawing.find_elements(By.CSS_SELECTOR, "svg")
    assert len(whole.find_elements(By.CSS_SELECTOR, ".glyph.wrong.masked")) == 1
    assert len(whole.find_elements(By.CSS_SELECTOR, "circle.glyph.kept")) == 1
    assert f"×{failure.shown.did.count('K')}" in whole.text
    for picture in (whole, near):
        assert len(picture.find_elements(By.CSS_SELECTOR, ".cut")) == 1
        assert len(picture.find_elements(By.CSS_SELECTOR, ".zone-either")) == 1
    # The token that may be either lies in the interval, near enough to the cut for the second one.
    assert near.find_elements(By.CSS_SELECTOR, ".glyph.masked")
    assert not near.find_elements(By.CSS_SELECTOR, ".glyph.wrong")


def test_tokens_stand_where_their_logits_are(opened: Chrome) -> None:
    card = card_of(opened, sample_reports.failing(), "TNS-4.divisor")
    places = opened.execute_script(
        """
        const at = (name) => arguments[0].querySelector(name).getBoundingClientRect();
        const middle = (box) => (box.left + box.right) / 2;
        return [at('.cut'), at('.glyph.wrong'), at('.glyph.kept')].map(middle);
        """,
        card,
    )
    failure = sample_reports.failing().failures[0].failure
    assert failure is not None
    cut, wrong, right = places
    # Logits 0 and 1, and the cut: in proportion.
    assert (wrong - cut) / (right - wrong) == pytest.approx(-(failure.cut or 0.0), abs=0.01)


def test_a_row_that_is_left_alone_has_no_cut(opened: Chrome) -> None:
    card = card_of(opened, sample_reports.not_a_number(), "TNS-3.nan")
    assert card.find_elements(By.CSS_SELECTOR, ".glyph.wrong")
    assert card.find_elements(By.CSS_SELECTOR, ".slash")
    assert not card.find_elements(By.CSS_SELECTOR, ".cut")
    assert "NaN" in card.find_element(By.TAG_NAME, "svg").text


def test_the_tokens_as_a_table(opened: Chrome) -> None:
    card = card_of(opened, sample_reports.failing(), "TNS-4.divisor")
    card.find_element(By.TAG_NAME, "summary").click()
    rows = [row.text for row in card.find_elements(By.CSS_SELECTOR, "tbody tr")]
    assert rows == [
        "0 0 0x00000000 keep −∞ 0xff800000 ✗ wrong",
        "1 1 0x3f800000 keep 1 0x3f800000 ✓",
    ]


def test_the_command_is_copied(opened: Chrome, address: str) -> None:
    opened.execute_cdp_cmd(
        "Browser.grantPermissions",
        {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]},
    )
    card = card_of(opened, sample_reports.failing(), "TNS-4.divisor")
    button = card.find_element(By.CSS_SELECTOR, ".command button")
    opened.execute_script("arguments[0].scrollIntoView()", button)
    button.click()
    copied = opened.execute_async_script(
        "const done = arguments[0]; navigator.clipboard.readText().then(done, done)"
    )
    failure = sample_reports.failing().failures[0].failure
    assert failure is not None
    assert copied == failure.reproduce


def test_waivers_have_their_issue_and_their_last_day(opened: Chrome) -> None:
    assert opened.find_element(By.ID, "waivers-title").text == "Known failures (1 waived)"
    rows = [row.text for row in opened.find_elements(By.CSS_SELECTOR, "#waivers tbody tr")]
    assert len(rows) == 3
    assert "◐ waived masks with -1e9 https://issues.invalid/12 2026-06-01" in rows[0]
    links = opened.find_elements(By.CSS_SELECTOR, "#waivers td a")
    assert [link.get_attribute("href") for link in links] == [sample_reports.ADDRESS]


def test_nothing_in_a_report_is_run(opened: Chrome) -> None:
    choose(opened, "status", "error")
    (card,) = cards(opened)
    # Half of a surrogate pair is no text to the driver.
    text = opened.execute_script("return arguments[0].textContent.toWellFormed()", card)
    assert sample_reports.Hostile.version.partition("|")[0].strip() in text
    assert "<img src=x onerror=alert(1)>" in text
    assert opened.title == "top-nσ conformance"
    assert opened.find_elements(By.TAG_NAME, "img") == []


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (360, "dark"), (1200, "dark")])
def test_nothing_is_wider_than_the_screen(opened: Chrome, width: int, scheme: str) -> None:
    set_screen(opened, width, 800, scheme)
    choose(opened, "status", "all")
    for details in opened.find_elements(By.TAG_NAME, "details"):
        opened.execute_script("arguments[0].open = true", details)
    wider = opened.execute_script(
        """
        const inside = (node) => node.closest('.scroll') && !node.matches('.scroll');
        return [...document.body.querySelectorAll('*')].filter((node) => !inside(node)
            && !node.matches('.skip') && node.getBoundingClientRect().right > innerWidth + 0.5)
            .map((node) => node.outerHTML.slice(0, 200));
        """
    )
    assert wider == []
    assert opened.execute_script("return document.documentElement.scrollWidth") <= width


def test_it_can_be_gone_through_with_the_keyboard(opened: Chrome) -> None:
    body = opened.find_element(By.TAG_NAME, "body")
    body.send_keys(Keys.TAB)
    skip = opened.switch_to.active_element
    assert skip.text == "Skip to the results"
    assert skip.rect["x"] >= 0
    unnamed = opened.execute_script(
        """
        return [...document.querySelectorAll('a, button, select, input, [tabindex="0"]')]
            .filter((node) => !(node.textContent.trim() || node.getAttribute('aria-label')
                || node.getAttribute('aria-labelledby') || (node.labels || []).length))
            .map((node) => node.outerHTML);
        """
    )
    assert unnamed == []

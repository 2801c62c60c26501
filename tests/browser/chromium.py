"""A headless Chromium without network, driven over WebDriver."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.remote.command import Command

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)


class NoBrowserError(Exception):
    """There is no Chromium, or no chromedriver, on this machine."""


def start(profile: Path) -> webdriver.Chrome:
    """Start the browser with an empty ``profile``.

    Raises:
        NoBrowserError: there is none.
    """
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        missing = "Chromium" if browser is None else "chromedriver"
        raise NoBrowserError(
            f"{missing} is not on the PATH, and nothing is downloaded for this test:"
            " 'apt-get install chromium chromium-driver', or your system's packages of that name"
        )
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in (*_FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # With a path to the driver Selenium does not look for one to download.
    return webdriver.Chrome(options=options, service=Service(driver))


def set_screen(chrome: webdriver.Chrome, width: int, height: int, scheme: str = "light") -> None:
    """Size of the window in CSS pixels, and the colour scheme that the reader prefers."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", media)


def console_messages(chrome: webdriver.Chrome) -> list[str]:
    """What was written to the console since the last time, violations of the policy included."""
    return [entry["message"] for entry in _log(chrome, "browser")]


def requested(chrome: webdriver.Chrome) -> set[str]:
    """Addresses that the page asked for since the last time, its own file among them."""
    events: list[Mapping[str, Any]] = [
        json.loads(entry["message"])["message"] for entry in _log(chrome, "performance")
    ]
    return {
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    }


def _log(chrome: webdriver.Chrome, kind: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = chrome.execute(Command.GET_LOG, {"type": kind})["value"]
    return entries

#!/usr/bin/env python3
"""Opens an HTML report in headless Chromium and fails if anything is wrong with it.

    check_report.py REPORT.html SCREENSHOT.png [--charts N] [--width PIXELS] [--dark] [--print FILE.pdf]

Wrong is: an exception or an error on the console, a violation of the page's policy, a request to anywhere but the
file itself, a chart that was not drawn, a page wider than the screen. Needs only Python's standard library: the
browser is driven over its debugging pipe (file descriptors 3 and 4, messages end with a zero byte).
"""

import argparse
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe", "--hide-scrollbars",
]
DEADLINE_S = 60


class Browser:
    def __init__(self, profile):
        to_browser, self.writer = os.pipe()
        self.reader, from_browser = os.pipe()
        # High copies first: one of the four may itself be 3 or 4.
        import fcntl
        there = fcntl.fcntl(to_browser, fcntl.F_DUPFD, 50)
        back = fcntl.fcntl(from_browser, fcntl.F_DUPFD, 50)

        def descriptors():
            os.dup2(there, 3)
            os.dup2(back, 4)

        binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if binary is None:
            sys.exit("no chromium found")
        self.process = subprocess.Popen(
            [binary, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=descriptors, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        for descriptor in (to_browser, from_browser, there, back):
            os.close(descriptor)
        self.buffer = b""
        self.number = 0
        self.events = []
        self.renew()

    def renew(self):
        """Gives the browser its full time again, for another page."""
        self.deadline = time.monotonic() + DEADLINE_S

    def receive(self, patience=None):
        """The next message, or None if there is none within `patience` seconds."""
        while b"\0" not in self.buffer:
            left = self.deadline - time.monotonic() if patience is None else patience
            if not select.select([self.reader], [], [], max(0, left))[0]:
                if patience is None:
                    sys.exit(f"the browser gave no answer within {DEADLINE_S} s")
                return None
            data = os.read(self.reader, 1 << 20)
            if not data:
                sys.exit("the browser ended early")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.writer, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def settle(self, event, seconds=0.3):
        """Waits for an event, then until nothing has come for a while."""
        while not any(seen.get("method") == event for seen in self.events):
            self.events.append(self.receive())
        while (message := self.receive(seconds)) is not None:
            self.events.append(message)


def problems_of(events, address):
    problems = []
    for event in events:
        kind, parameters = event.get("method"), event.get("params", {})
        if kind == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            problems.append("exception: " + details.get("exception", {}).get("description", details["text"]))
        elif kind == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            problems.append("console: " + " ".join(str(a.get("value", "")) for a in parameters["args"]))
        elif kind == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            problems.append("log: " + parameters["entry"]["text"])
        elif kind == "Network.requestWillBeSent" and parameters["request"]["url"] != address:
            problems.append("request: " + parameters["request"]["url"][:200])
        elif kind == "Page.javascriptDialogOpening":
            problems.append("dialog: " + parameters["message"])
    return problems


def check(browser, arguments):
    address = arguments.report.resolve().as_uri()
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log", "Network"):
        browser.call(f"{domain}.enable", session)
    browser.call(
        "Emulation.setEmulatedMedia", session, media="",
        features=[{"name": "prefers-color-scheme", "value": "dark" if arguments.dark else "light"}],
    )
    browser.call(
        "Emulation.setDeviceMetricsOverride", session, width=arguments.width, height=1000, deviceScaleFactor=1,
        mobile=False,
    )
    browser.events.clear()
    browser.call("Page.navigate", session, url=address)
    browser.settle("Page.loadEventFired")

    def value(expression):
        return browser.call("Runtime.evaluate", session, expression=expression, returnByValue=True)["result"].get("value")

    data = value("({...document.documentElement.dataset})") or {}
    problems = problems_of(browser.events, address)
    if data.get("errors"):
        problems.append("page: " + data["errors"])
    if data.get("rendered") is None or data.get("rendered") != data.get("charts"):
        problems.append(f"charts: {data.get('rendered')} drawn of {data.get('charts')}")
    if arguments.charts is not None and data.get("charts") != str(arguments.charts):
        problems.append(f"charts: the page has {data.get('charts')} and not {arguments.charts}")
    # A canvas may exist and be blank.
    blank = value(
        "[...document.querySelectorAll('.chart canvas')].filter((c) => !c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data.some((v) => v !== 0)).length"
    )
    if blank:
        problems.append(f"charts: {blank} canvases are blank")
    overflow = value("document.documentElement.scrollWidth - innerWidth")
    if overflow and overflow > 0:
        problems.append(f"layout: the page is {overflow} pixels wider than the screen")
    # Both states of the switch, and back.
    value("document.querySelectorAll('.chart-tools button').forEach((b) => { b.click(); b.click(); })")
    height = value("Math.ceil(document.documentElement.getBoundingClientRect().height)") or 1000
    picture = browser.call(
        "Page.captureScreenshot", session, format="png", captureBeyondViewport=True,
        clip={"x": 0, "y": 0, "width": arguments.width, "height": height, "scale": 1},
    )
    arguments.screenshot.write_bytes(base64.b64decode(picture["data"]))
    if arguments.print:
        paper = browser.call("Page.printToPDF", session, printBackground=True)
        arguments.print.write_bytes(base64.b64decode(paper["data"]))
    errors = value("document.documentElement.dataset.errors")
    if errors and errors != data.get("errors"):
        problems.append("page, later: " + errors)
    return problems, data


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("screenshot", type=pathlib.Path)
    parser.add_argument("--charts", type=int, help="number of charts that the page must hold")
    parser.add_argument("--width", type=int, default=1200, help="of the window, in pixels")
    parser.add_argument("--dark", action="store_true", help="as if the reader preferred dark pages")
    parser.add_argument("--print", type=pathlib.Path, help="also print to this PDF file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            problems, data = check(browser, arguments)
        finally:
            browser.process.kill()
            browser.process.wait()
    for problem in problems:
        print(f"{arguments.report}: {problem}", file=sys.stderr)
    if problems:
        sys.exit(1)
    print(f"{arguments.report}: {data['rendered']} charts, no errors")


if __name__ == "__main__":
    main()

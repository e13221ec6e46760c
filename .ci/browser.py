"""Headless Chromium for the checks of pages, driven over its debugging pipe (file descriptors 3 and 4, messages end with a zero byte).

Needs only Python's standard library.
"""

import base64
import contextlib
import fcntl
import json
import os
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


@contextlib.contextmanager
def browsing():
    """A browser with a profile of its own, which ends with the block."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            yield browser
        finally:
            browser.process.kill()
            browser.process.wait()


class Page:
    """A page of that width, in pixels, in a colour scheme if one is named; `script` runs before the page's own."""

    def __init__(self, browser, width, scheme=None, script=None):
        self.browser, self.width, self.session = browser, width, None
        self.target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        if script:
            self.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        if scheme:
            self.call("Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def open(self, address, quiet=0.3):
        """Goes there, and waits until nothing has come for `quiet` seconds."""
        self.browser.events.clear()
        self.call("Page.navigate", url=address)
        self.browser.settle("Page.loadEventFired", quiet)

    def value(self, expression, **options):
        """What JavaScript makes of an expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, **options)
        if "exceptionDetails" in answer:
            sys.exit(f"the check itself failed: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def picture(self, path):
        """Writes the whole page to a PNG file."""
        height = self.value("Math.ceil(document.documentElement.getBoundingClientRect().height)") or 1000
        clip = {"x": 0, "y": 0, "width": self.width, "height": height, "scale": 1}
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        self.session = None
        self.call("Target.closeTarget", targetId=self.target)

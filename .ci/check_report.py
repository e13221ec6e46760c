#!/usr/bin/env python3
"""Opens an HTML report in headless Chromium and fails if anything is wrong with it.

    check_report.py REPORT.html SCREENSHOT.png [--charts N] [--width PIXELS] [--dark] [--print FILE.pdf]

Wrong is: an exception or an error on the console, a violation of the page's policy, a request to anywhere but the
file itself, a chart that was not drawn, a page wider than the screen.
"""

import argparse
import base64
import pathlib
import sys

from browser import Page, browsing, problems_of

def check(browser, arguments):
    address = arguments.report.resolve().as_uri()
    page = Page(browser, arguments.width, "dark" if arguments.dark else "light")
    page.open(address)
    value = page.value

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
    page.picture(arguments.screenshot)
    if arguments.print:
        paper = page.call("Page.printToPDF", printBackground=True)
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
    with browsing() as browser:
        problems, data = check(browser, arguments)
    for problem in problems:
        print(f"{arguments.report}: {problem}", file=sys.stderr)
    if problems:
        sys.exit(1)
    print(f"{arguments.report}: {data['rendered']} charts, no errors")


if __name__ == "__main__":
    main()

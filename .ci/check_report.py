#!/usr/bin/env python3
"""Opens an HTML report in headless Chromium and fails if anything is wrong with it.

    check_report.py REPORT.html SCREENSHOT.png [--charts N] [--width PIXELS] [--dark] [--print FILE.pdf]

Wrong is: an exception or an error on the console, a violation of the page's policy, a request to anywhere but the
file itself, a chart that was not drawn, a page wider than the screen, a page longer than --screens before anything is unfolded; an index,
a fold or a sorted table that does not do what a reader expects of it, by mouse or by keyboard; charts over the run that do not zoom together.
"""

import argparse
import base64
import pathlib
import sys

from browser import Page, browsing, problems_of

SCREEN = 900
# Each returns what is wrong, as lines.
READING = """
(async () => {
  const wrong = [], wait = (ms) => new Promise((r) => setTimeout(r, ms));
  const contents = document.querySelector('nav details');
  if (!contents) return wrong;
  const links = [...contents.querySelectorAll('a')];
  const headed = [...document.querySelectorAll('section[id]')].map((s) => '#' + s.id);
  const named = links.map((a) => a.getAttribute('href'));
  if (headed.join() !== named.join()) wrong.push(`index: it has ${named} and the page ${headed}`);
  // It stays where it is while the page is scrolled.
  scrollTo(0, document.documentElement.scrollHeight);
  await wait(50);
  const top = contents.getBoundingClientRect().top;
  if (top < 0 || top > 40) wrong.push(`index: at the end of the page it is at ${top} px`);
  // The last folded section: its link unfolds it and leads there.
  const fold = [...document.querySelectorAll('details.fold')].at(-1);
  if (fold) {
    contents.open = true;
    contents.querySelector(`a[href="#${fold.parentElement.id}"]`).click();
    await wait(100);
    if (!fold.open) wrong.push('index: its link does not unfold the section');
    if (contents.open) wrong.push('index: it stays open over the page');
    const at = fold.getBoundingClientRect().top;
    if (at > innerHeight) wrong.push(`index: its link leads to ${at} px below the top`);
    fold.open = false;
  }
  document.querySelectorAll('details.fold').forEach((d) => { d.open = true; });
  await wait(150);
  return wrong;
})()
"""
SORTING = """
(() => {
  const wrong = [];
  const lengths = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600 };
  const inSeconds = (text) => {
    const found = /^[<>]?\\s*(\\d[\\d.,]*)(?: ?(ns|us|ms|s|min|h))?(?: to [\\d.,]+ (ns|us|ms|s|min|h))?$/.exec(text.trim());
    return found && (found[2] || found[3]) ? Number(found[1].replaceAll(',', '')) * lengths[found[2] || found[3]] : null;
  };
  let sorted = 0;
  for (const table of document.querySelectorAll('.scroll table')) {
    for (const button of table.querySelectorAll('thead .sort')) {
      const th = button.closest('th'), column = th.cellIndex;
      const before = [...table.tBodies[0].rows].length;
      for (const times of [1, 2]) {
        button.click();
        const order = th.getAttribute('aria-sort');
        const numbers = groupsOf(table.tBodies[0]).map(([row]) => sortValue(row.cells[column])).filter((v) => typeof v === 'number');
        const right = numbers.every((v, i) => i === 0 || (order === 'ascending' ? v >= numbers[i - 1] : v <= numbers[i - 1]));
        if (!right) wrong.push(`table: ${th.textContent} is not ${order}: ${numbers.slice(0, 8)}`);
        // The same by what a reader sees: the first number of a cell in the unit behind it, which a range says once.
        const seen = groupsOf(table.tBodies[0]).map(([row]) => inSeconds(row.cells[column].textContent)).filter((v) => v != null);
        const slack = (a, b) => a <= b * 1.0000001 + 1e-15;
        const rising = seen.every((v, i) => i === 0 || (order === 'ascending' ? slack(seen[i - 1], v) : slack(v, seen[i - 1])));
        if (!rising) wrong.push(`table: ${th.textContent} reads ${seen.slice(0, 8)}, which is not ${order}`);
      }
      if ([...table.tBodies[0].rows].length !== before) wrong.push('table: rows are lost');
      sorted++;
    }
  }
  return [wrong, sorted];
})()
"""
OVER = "[...drawn.values()].flat().filter((u) => u.cursor?.sync?.key === 'over-time')"
SHOWN = f"{OVER}.map((u) => [u.scales.x.min, u.scales.x.max])"
WAIT = "new Promise((r) => setTimeout(r, 150))"


def zoom(page):
    """Zooms into the middle fifth of the first chart over the run: how many charts there are, and what is wrong with what they show."""
    whole = page.value(SHOWN)
    if len(whole) < 2:
        return len(whole), []
    page.value(f"{OVER}[0].over.scrollIntoView({{ block: 'center' }})")
    page.value(WAIT, awaitPromise=True)
    left, top, width = page.value(f"(() => {{ const b = {OVER}[0].over.getBoundingClientRect(); return [b.left, b.top, b.width]; }})()")
    for kind, x in (("mouseMoved", 0.4), ("mousePressed", 0.4), ("mouseMoved", 0.5), ("mouseMoved", 0.6), ("mouseReleased", 0.6)):
        page.call("Input.dispatchMouseEvent", type=kind, x=left + x * width, y=top + 30, button="none" if kind == "mouseMoved" and x == 0.4 else "left", clickCount=1)
    page.value(WAIT, awaitPromise=True)
    shown = page.value(SHOWN)
    (low, high), (from_, to) = whole[0], shown[0]
    wrong = []
    if not to - from_ < 0.5 * (high - low):
        wrong.append(f"zoom: the first chart shows {shown[0]} of {whole[0]}")
    for i, (begin, end) in enumerate(shown):
        if max(abs(begin - from_), abs(end - to)) > 0.2 * (to - from_):
            wrong.append(f"zoom: chart {i} shows {begin} to {end}, the first {from_} to {to}")
    return len(whole), wrong


# The steps of the rows that are shown in tables of steps.
STEPS_SHOWN = """
[...new Set([...document.querySelectorAll('th[data-steps]')].flatMap((th) => {
  const rows = groupsOf(th.closest('table').tBodies[0]).map(([row]) => row).filter((row) => !row.hidden);
  return rows.map((row) => row.cells[th.cellIndex].textContent.replaceAll('\\u00a0', ' ').trim());
}))]
"""


def by_buttons(page):
    """The zoom by its buttons and keys, with the keyboard alone, and the choice of a step: what is wrong with them."""
    if not page.value("Boolean(document.querySelector('.chart-tools'))"):
        return []
    wrong = []

    def width():
        page.value(WAIT, awaitPromise=True)
        shown = page.value(SHOWN)
        return shown[0][1] - shown[0][0], shown

    page.value("showStretch(null)")
    whole, _ = width()
    page.value("document.querySelector('.zoom button').focus()")
    press(page, "Tab", 9)
    if page.value("document.activeElement.title") != "zoom in (+)":
        wrong.append(f"zoom: behind the first button is {page.value(FOCUSED)}")
    for key, code, least, most in (("Enter", 13, 0.4, 0.6), ("+", 187, 0.2, 0.3), ("-", 189, 0.4, 0.6), ("0", 48, 0.99, 1.01)):
        press(page, key, code)
        now, shown = width()
        if not least * whole <= now <= most * whole:
            wrong.append(f"zoom: after {key} the first chart shows {now / whole:.2f} of the run")
        if any(abs(a - shown[0][0]) + abs(b - shown[0][1]) > 0.1 * whole for a, b in shown):
            wrong.append(f"zoom: after {key} the charts show {shown}")
    press(page, "+", 187)
    before, after = page.value(SHOWN)[0], None
    press(page, "ArrowRight", 39)
    page.value(WAIT, awaitPromise=True)
    after = page.value(SHOWN)[0]
    if not after[0] > before[0] + 0.1 * (before[1] - before[0]):
        wrong.append(f"zoom: the right arrow leads from {before} to {after}")
    if not page.value("document.querySelector('.stretch').textContent"):
        wrong.append("zoom: nothing says what is shown")
    press(page, "0", 48)
    if page.value("Boolean(document.querySelector('.chart-tools select'))"):
        page.value("document.querySelector('.chart-tools select').focus()")
        press(page, "ArrowDown", 40)
        page.value(WAIT, awaitPromise=True)
        name = page.value("document.querySelector('.chart-tools select').value")
        left = page.value(STEPS_SHOWN)
        if not name or left != [name]:
            wrong.append(f"step: after the down arrow {name!r} is chosen and the tables of steps have {left}")
        lines = page.value(f"{OVER}[0].series.map((s) => s.label)")
        if "p90" in lines or "p50" not in lines:
            wrong.append(f"step: the first chart draws {lines} of a step")
        press(page, "ArrowUp", 38)
        page.value(WAIT, awaitPromise=True)
        if len(page.value(STEPS_SHOWN)) < 2:
            wrong.append("step: all steps do not come back")
    return wrong


FOCUSED = "(() => { const e = document.activeElement; return [e.localName, e.textContent.trim().slice(0, 40)]; })()"


def press(page, key, code):
    text = {"text": "\r" if key == "Enter" else key} if key == "Enter" or len(key) == 1 else {}
    for kind in ("keyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **(text if kind == "keyDown" else {}))


def by_keyboard(page, address):
    """From the top of the page: the index opens, its first link is reached and followed, Escape closes it; then a fold and a table."""
    if not page.value("Boolean(document.querySelector('nav details'))"):
        return []
    wrong = []
    page.open(address)
    press(page, "Tab", 9)
    if page.value(FOCUSED) != ["summary", "Contents"]:
        wrong.append(f"keyboard: the first stop is {page.value(FOCUSED)}")
    press(page, "Enter", 13)
    if not page.value("document.querySelector('nav details').open"):
        wrong.append("keyboard: Enter does not open the index")
    press(page, "Tab", 9)
    if page.value(FOCUSED)[0] != "a":
        wrong.append(f"keyboard: behind the index is {page.value(FOCUSED)}")
    press(page, "Escape", 27)
    if page.value("document.querySelector('nav details').open"):
        wrong.append("keyboard: Escape does not close the index")
    if page.value("(() => { const f = document.querySelector('details.fold > summary'); f?.focus(); return Boolean(f); })()"):
        press(page, "Enter", 13)
        if not page.value("document.querySelector('details.fold').open"):
            wrong.append("keyboard: Enter does not unfold a section")
    page.value("document.querySelectorAll('details.fold').forEach((d) => { d.open = true; })")
    if page.value("(() => { const b = [...document.querySelectorAll('.scroll .sort')].find((b) => b.checkVisibility()); b?.focus(); return Boolean(b); })()"):
        press(page, "Enter", 13)
        if not page.value("document.activeElement.closest('th').hasAttribute('aria-sort')"):
            wrong.append("keyboard: Enter does not sort a table")
    return wrong


def check(browser, arguments):
    address = arguments.report.resolve().as_uri()
    page = Page(browser, arguments.width, "dark" if arguments.dark else "light")
    page.open(address)
    value = page.value

    height = value("document.documentElement.getBoundingClientRect().height")
    reading = value(READING, awaitPromise=True)
    data = value("({...document.documentElement.dataset})") or {}
    # A link within the page asks for nothing.
    problems = [line for line in problems_of(browser.events, address) if not line.startswith(f"request: {address}#")] + reading
    if arguments.screens is not None and height > arguments.screens * SCREEN:
        problems.append(f"length: {height:.0f} px before anything is unfolded, and {arguments.screens} screens are {arguments.screens * SCREEN}")
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
    wrong, data["sorted"] = value(SORTING)
    data["zoomed"], more = zoom(page)
    problems += wrong + more + by_buttons(page) + by_keyboard(page, address)
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
    parser.add_argument("--screens", type=float, help=f"how many screens of {SCREEN} pixels the page may be long before anything is unfolded")
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
    print(f"{arguments.report}: {data['rendered']} charts, {data['zoomed']} zoom together, {data['sorted']} columns sort, no errors")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Opens the live view of a run in headless Chromium, stays to its end, and fails if anything is wrong with it.

    check_live.py ADDRESS [--width PIXELS] [--screenshots FOLDER]

Wrong is: an exception or an error on the console, a violation of the policy, a request to another server, a chart that was not drawn, a
page wider than the screen, text that is clipped or overlaps, a page that does not renew itself, and one that takes what was unfolded or
in focus from a reader who has only a keyboard. Prints what was seen as JSON.
"""

import argparse
import json
import pathlib
import sys
import time

from browser import Page, browsing, problems_of
from check_layout import FIND, NOTES

# Of what is in focus: its text, whether it is unfolded, and the section around it.
FOCUSED = """(() => {
  const of = document.activeElement, fold = of.closest("details");
  return { tag: of.localName, text: of.textContent.slice(0, 80), open: Boolean(fold && fold.open), section: of.closest("section")?.id ?? "" };
})()"""
STANDING = """(() => {
  const data = document.documentElement.dataset, text = (id) => document.getElementById(id).textContent;
  const tiles = Object.fromEntries([...document.querySelectorAll(".tiles > div")].map((t) => [t.children[0].textContent, t.children[1].textContent]));
  const answers = [...document.querySelectorAll(".verdict .answers > div")];
  const load = answers.find((answer) => answer.querySelector(".question")?.textContent === "Sent as specified?");
  const word = load?.querySelector(".word")?.textContent ?? "";
  return { ...data, state: text("state"), said: text("said"), title: document.title, tiles, word, sections: [...document.querySelectorAll("section[id]")].map((s) => s.id),
           wide: document.documentElement.scrollWidth - innerWidth };
})()"""
# Tables are unfolded meanwhile: what is folded lies over what is below it, as far as boxes tell.
LOOK = f"""(() => {{
  const folded = [...document.querySelectorAll("details:not([open])")];
  folded.forEach((of) => {{ of.open = true; }});
  const found = {FIND.strip()};
  folded.forEach((of) => {{ of.open = false; }});
  return found;
}})()"""
# A page that shows no more than this after its last number has been lost.
PATIENCE_S = 40


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--screenshots", type=pathlib.Path)
    arguments = parser.parse_args()
    with browsing() as browser:
        seen, problems = watch(browser, arguments)
    print(json.dumps(seen))
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


def watch(browser, arguments):
    page = Page(browser, arguments.width, script=NOTES)
    value = page.value

    def press(key, code, number, text=None):
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if text and kind == "keyDown" else {}
            page.call("Input.dispatchKeyEvent", type=kind, key=key, code=code, windowsVirtualKeyCode=number, **extra)

    def picture(name):
        if arguments.screenshots:
            page.picture(arguments.screenshots / f"{name}-{arguments.width}.png")

    page.open(arguments.address, 0.1)
    problems, standings, keyboard = [], [], None
    last = time.monotonic()
    while time.monotonic() - last < PATIENCE_S:
        browser.renew()
        standing = value(STANDING)
        if "number" in standing and (not standings or standing["number"] != standings[-1]["number"]):
            standings.append(standing)
            last = time.monotonic()
            if len(standings) == 4:
                keyboard = unfold(value, press)
                value("scrollTo(0, 0)")
                picture("running")
                problems += [f"running: {line}" for line in value(LOOK)]
            if keyboard and len(standings) == 7:
                keyboard["later"] = value(FOCUSED)
        if standing.get("ended") == "true":
            break
        time.sleep(0.1)
    browser.renew()
    # Charts are drawn in a microtask.
    time.sleep(0.3)
    end = value(STANDING)
    picture("ended")
    problems += [f"ended: {line}" for line in value(LOOK)]
    while (message := browser.receive(0.3)) is not None:
        browser.events.append(message)
    own = arguments.address.split("#")[0].rstrip("/")
    problems += [p for p in problems_of(browser.events, None) if not p.startswith((f"request: {own}/", "request: data:"))]
    if end.get("errors"):
        problems.append("page: " + end["errors"])
    if end.get("ended") != "true":
        problems.append(f"the page did not come to its end: {end}")
    if end.get("rendered") != end.get("charts") or end.get("charts") == "0":
        problems.append(f"charts: {end.get('rendered')} drawn of {end.get('charts')}")
    problems += [f"the page is {s['wide']} px wider than the screen" for s in [*standings, end] if s["wide"] > 0][:1]
    if keyboard is None:
        problems.append("the run was too short to try the keyboard")
    elif keyboard.get("later") != keyboard["now"] or not keyboard["now"]["open"]:
        problems.append(f"what was unfolded and in focus is so no longer: {keyboard}")
    return {"standings": standings, "end": end, "keyboard": keyboard}, problems


def unfold(value, press):
    """Goes by Tab to the numbers of the chart over time, and unfolds them by Enter; what is in focus then."""
    for _ in range(60):
        press("Tab", "Tab", 9)
        focused = value(FOCUSED)
        if focused["section"] == "over-time" and focused["tag"] == "summary":
            press("Enter", "Enter", 13, "\r")
            return {"now": value(FOCUSED)}
    return {"now": {"open": False, "why": "no Tab leads to the numbers of the chart over time", "at": focused}}


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Opens HTML reports in headless Chromium and fails if text is clipped, overlaps other text, or a table does not fit.

    check_layout.py REPORT.html... [--width PIXELS]... [--screenshots FOLDER]

Each page is opened at 390 and 1,280 pixels, in light and dark, with all its tables unfolded. Text in charts counts too: what they
write on their canvases is noted. A table that has to be scrolled sideways does not fit.
"""

import argparse
import pathlib
import sys

from browser import Page, browsing

WIDTHS = [390, 1280]

# Before the page's own scripts: notes where charts write text. Clearing a canvas forgets its text.
NOTES = """
(() => {
  const context = CanvasRenderingContext2D.prototype;
  const { fillText, clearRect } = context;
  const clear = (canvas) => { canvas.texts = []; };
  context.fillText = function (text, x, y, ...rest) {
    const size = this.measureText(text), to = this.getTransform();
    const corner = (x, y) => { const p = to.transformPoint({ x, y }); return [p.x, p.y]; };
    const a = corner(x - size.actualBoundingBoxLeft, y - size.actualBoundingBoxAscent);
    const b = corner(x + size.actualBoundingBoxRight, y + size.actualBoundingBoxDescent);
    if (String(text).trim()) (this.canvas.texts ||= []).push({
      text: String(text), left: Math.min(a[0], b[0]), right: Math.max(a[0], b[0]),
      top: Math.min(a[1], b[1]), bottom: Math.max(a[1], b[1]),
    });
    return fillText.call(this, text, x, y, ...rest);
  };
  context.clearRect = function (x, y, w, h) {
    if (w >= this.canvas.width && h >= this.canvas.height) clear(this.canvas);
    return clearRect.call(this, x, y, w, h);
  };
  for (const side of ["width", "height"]) {
    const own = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, side);
    Object.defineProperty(HTMLCanvasElement.prototype, side, { ...own, set(v) { clear(this); own.set.call(this, v); } });
  }
})();
"""

# What is wrong, as lines. Boxes of neighbouring lines of text touch, and may share a pixel or two.
FIND = """
(() => {
  const found = new Set();
  const shown = (text) => JSON.stringify(text.trim().replace(/\\s+/g, " ").slice(0, 60));
  const where = (node) => {
    const section = node.closest("section[id], header, footer");
    return section ? (section.id || section.localName) : "page";
  };
  const meet = (a, b, x, y) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > x
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > y;
  const overlaps = (all, x, y, place) => {
    all.sort((a, b) => a.top - b.top);
    all.forEach((a, i) => {
      for (let j = i + 1; j < all.length && all[j].top < a.bottom; j++) {
        const b = all[j];
        if (a.node !== b.node && meet(a, b, x, y)) found.add(`${place(a)}: ${shown(a.text)} overlaps ${shown(b.text)}`);
        if (!a.node && meet(a, b, x, y)) found.add(`${place(a)}: ${shown(a.text)} overlaps ${shown(b.text)}`);
      }
    });
  };
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const holder = node.parentElement;
    // The index lies over the page; what is folded is not seen.
    if (!node.data.trim() || holder.closest("script, style, noscript, nav") || !holder.checkVisibility()) continue;
    const clips = [];
    let hidden = false;
    for (let box = holder; box && box !== document.documentElement; box = box.parentElement) {
      const look = getComputedStyle(box);
      // For readers by ear only.
      hidden ||= look.clipPath !== "none" || look.visibility === "hidden" || look.display === "none";
      if ([look.overflowX, look.overflowY].some((v) => v === "hidden" || v === "clip")) clips.push(box);
    }
    if (hidden) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      if (box.width < 1 || box.height < 1) continue;
      const { left, right, top, bottom } = box;
      texts.push({ node, text: node.data, left, right, top, bottom });
      for (const clip of clips) {
        const edge = clip.getBoundingClientRect();
        if (left < edge.left - 1 || right > edge.right + 1 || top < edge.top - 2 || bottom > edge.bottom + 2) {
          found.add(`${where(holder)}: ${shown(node.data)} is clipped`);
        }
      }
      const scrolls = holder.closest(".scroll");
      if (!scrolls && (left < -1 || right > innerWidth + 1)) found.add(`${where(holder)}: ${shown(node.data)} is off the page`);
    }
  }
  // A number is not broken within a cell, but where it has so many digits that no screen has room for the table.
  for (const { node } of texts) {
    const cell = node.parentElement.closest("td, th, dd, .tile-value");
    if (!cell || cell.closest(".wide")) continue;
    for (const { 0: number, index } of node.data.matchAll(/(?<![\\w.:-])\\d[\\d.,]*/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + number.length);
      const tops = new Set([...range.getClientRects()].filter((box) => box.width > 0).map((box) => Math.round(box.top)));
      if (tops.size > 1 && number.length < 20) found.add(`${where(cell)}: the number ${shown(number)} is broken within its cell`);
    }
  }
  // What scrolls up and down within its box shows a part of itself, so that its lines may lie over those below.
  const inside = texts.filter(({ node, top, bottom }) => {
    const box = node.parentElement.closest("details .scroll");
    return !box || (top >= box.getBoundingClientRect().top && bottom <= box.getBoundingClientRect().bottom);
  });
  overlaps(inside, 1.5, 3, (a) => where(a.node.parentElement));
  for (const region of document.querySelectorAll(".scroll")) {
    const wide = region.scrollWidth - region.clientWidth;
    if (wide > 1) found.add(`${where(region)}: the table ${shown(region.getAttribute("aria-label"))} is ${wide} px too wide`);
  }
  for (const table of document.querySelectorAll("table")) {
    const edge = table.getBoundingClientRect();
    if (!table.closest(".scroll") && (edge.left < -1 || edge.right > innerWidth + 1)) {
      found.add(`${where(table)}: a table sticks out of the page`);
    }
  }
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 0) found.add(`the page is ${wide} px wider than the screen`);
  for (const canvas of document.querySelectorAll("canvas")) {
    const all = canvas.texts || [];
    for (const { text, left, right, top, bottom } of all) {
      if (left < -1 || top < -1 || right > canvas.width + 1 || bottom > canvas.height + 1) {
        found.add(`${where(canvas)}: the chart clips ${shown(text)}`);
      }
    }
    overlaps([...all], 1, 1, () => `${where(canvas)}: in the chart`);
  }
  return [...found];
})()
"""

# The index would lie over what is below it.
UNFOLD = "document.querySelectorAll('details:not(nav details)').forEach((d) => { d.open = true; }); new Promise((r) => setTimeout(r, 150))"
# Charts whose numbers have two looks are found in both.
OTHER_LOOK = "[...document.querySelectorAll('.chart-tools button')].map((b) => b.click()).length"


def look(browser, report, width, scheme, screenshot):
    """What is wrong with a page at a width in a colour scheme, as lines."""
    page = Page(browser, width, scheme, NOTES)
    page.open(report.resolve().as_uri(), 0.1)
    value = page.value
    if screenshot:
        page.picture(screenshot)
    value(UNFOLD, awaitPromise=True)
    found = value(FIND)
    texts = value("[...document.querySelectorAll('canvas')].reduce((n, c) => n + (c.texts || []).length, 0)")
    if value("document.querySelectorAll('canvas').length") and not texts:
        found.append("no chart writes any text, or this check does not see it")
    if value(OTHER_LOOK):
        # Charts draw after the click, in a microtask.
        value("new Promise((r) => setTimeout(r, 50))", awaitPromise=True)
        found += [line for line in value(FIND) if line not in found]
    page.close()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", type=pathlib.Path, nargs="+", metavar="REPORT.html")
    parser.add_argument("--width", type=int, action="append", help="of the window, in pixels; 390 and 1,280 unless given")
    parser.add_argument("--screenshots", type=pathlib.Path, help="also write a picture of every look to this folder")
    arguments = parser.parse_args()
    wrong = looks = 0
    with browsing() as browser:
        for report in arguments.reports:
            for width in arguments.width or WIDTHS:
                for scheme in ("light", "dark"):
                    browser.renew()
                    folder = arguments.screenshots
                    picture = folder and folder / f"{report.stem}-{width}-{scheme}.png"
                    for line in look(browser, report, width, scheme, picture):
                        print(f"{report.name} at {width} px, {scheme}: {line}", file=sys.stderr)
                        wrong += 1
                    looks += 1
    if wrong:
        sys.exit(1)
    print(f"{looks} looks at {len(arguments.reports)} pages: no text is clipped or overlaps, and tables fit")


if __name__ == "__main__":
    main()

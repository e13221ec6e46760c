#!/usr/bin/env python3
"""Opens each page of a book of mdBook in headless Chromium, at 390 and 1,280 pixels, and fails if anything is wrong with it.

    check_book.py BOOK [--search WORD=PAGE]... [--screenshots FOLDER]

Wrong is: an exception or an error on the console, a request to anywhere but the book, a picture that did not load, a page wider than the
screen, a link within the book to what it has not. Each WORD is typed into the book's search, whose first ten answers have to hold PAGE.
"""

import argparse
import pathlib
import sys
import urllib.parse

from browser import Page, browsing, problems_of

WIDTHS = [390, 1280]
# Made for printing, of all pages in one; what a server shows for a page that is not there; and the sidebar of readers without scripts.
NOT_PAGES = {"print.html", "404.html", "toc.html"}
# The text of a page has a box of its own in which it scrolls, so that the page itself is never too wide.
OVERFLOW = """
[document.documentElement, document.querySelector('#mdbook-content') || document.querySelector('#content') || document.body]
  .map((box) => box.scrollWidth - box.clientWidth).reduce((a, b) => Math.max(a, b), 0)
"""
WIDEST = """
(() => {
  const edge = document.documentElement.clientWidth;
  const out = [...document.querySelectorAll('main *')].filter((e) => !e.closest('pre, .table-wrapper') && e.getBoundingClientRect().right > edge + 1);
  return out.slice(-1).map((e) => e.localName + ' ' + JSON.stringify(e.textContent.trim().slice(0, 60)))[0] || 'nothing';
})()
"""
BROKEN_PICTURES = "[...document.images].filter((i) => !i.complete || !i.naturalWidth).map((i) => i.getAttribute('src'))"
LINKS = "[...document.querySelectorAll('main a[href]')].map((a) => a.href)"
TYPE = """
(async (word) => {
  document.querySelector('#mdbook-search-toggle, #search-toggle').click();
  const bar = document.querySelector('#mdbook-searchbar, #searchbar');
  // The index is fetched when the search is opened first.
  for (let i = 0; i < 50 && !bar.disabled && !window.search?.hasFocus; i++) await new Promise((r) => setTimeout(r, 20));
  bar.value = word;
  for (let i = 0; i < 100; i++) {
    bar.dispatchEvent(new Event('input', { bubbles: true }));
    bar.dispatchEvent(new KeyboardEvent('keyup', { key: word.slice(-1), bubbles: true }));
    await new Promise((r) => setTimeout(r, 100));
    const found = [...document.querySelectorAll('#mdbook-searchresults a, #searchresults a')];
    if (found.length) return found.slice(0, 10).map((a) => a.getAttribute('href'));
  }
  return [];
})(%r)
"""


def look(page, path, book):
    page.browser.renew()
    page.open(path.as_uri(), 0.05)
    root = book.as_uri()
    found = [line for line in problems_of(page.browser.events, None) if not line.startswith(("request: data:", f"request: {root}"))]
    wide = page.value(OVERFLOW)
    if wide > 0:
        found.append(f"the page is {wide} px wider than the screen: {page.value(WIDEST)}")
    found += [f"the picture {source} did not load" for source in page.value(BROKEN_PICTURES)]
    found += [f"the link to {link} leads nowhere" for link in sorted(set(page.value(LINKS))) if link.startswith("file:") and leads_nowhere(link)]
    return found


def leads_nowhere(link):
    address, _, fragment = link.partition("#")
    path = pathlib.Path(urllib.parse.unquote(urllib.parse.urlparse(address).path))
    if not path.exists():
        return True
    return bool(fragment) and f'id="{urllib.parse.unquote(fragment)}"' not in path.read_text()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("book", type=pathlib.Path)
    parser.add_argument("--search", action="append", default=[], metavar="WORD=PAGE")
    parser.add_argument("--screenshots", type=pathlib.Path, help="also write a picture of each look to this folder")
    arguments = parser.parse_args()
    book = arguments.book.resolve()
    pages = [path for path in sorted(book.rglob("*.html")) if path.name not in NOT_PAGES]
    wrong = 0

    def say(line):
        nonlocal wrong
        wrong += 1
        print(line, file=sys.stderr)

    with browsing() as browser:
        for width in WIDTHS:
            page = Page(browser, width, "light")
            for path in pages:
                name = path.relative_to(book).as_posix()
                for line in look(page, path, book):
                    say(f"{name} at {width} px: {line}")
                if arguments.screenshots:
                    page.picture(arguments.screenshots / f"{name.replace('/', '-')[:-5]}-{width}.png")
            page.close()
        for asked in arguments.search:
            word, wanted = asked.split("=")
            page = Page(browser, 1280, "light")
            page.open((book / "index.html").as_uri(), 0.1)
            found = page.value(TYPE % word, awaitPromise=True)
            if not any(address.split("?")[0].split("#")[0] == wanted for address in found):
                say(f"the search for {word!r} finds {found} and not {wanted}")
            page.close()
    if wrong or not pages:
        sys.exit(1)
    print(f"{len(pages)} pages at {len(WIDTHS)} widths, {len(arguments.search)} searches: nothing is wrong")


if __name__ == "__main__":
    main()

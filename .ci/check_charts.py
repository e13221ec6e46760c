#!/usr/bin/env python3
"""Draws the charts of an HTML report over and over with numbers at the ends of their ranges, and fails if one cannot be drawn.

    check_charts.py REPORT.html [--seed N] [--rounds N]

The numbers of the page are replaced by random ones: none, zeros, ends of decades, the largest and smallest there are. All charts are
drawn anew, with logarithmic times and without. The page must be that of a run with two steps and more.
"""

import argparse
import pathlib
import sys

from browser import Page, browsing

# Charts draw in a microtask, so that each round waits for its own.
ROUNDS = """
(async () => {
  let state = %d;
  const random = () => { state = (state * 1664525 + 1013904223) >>> 0; return state / 4294967296; };
  const pick = (all) => all[Math.floor(random() * all.length)];
  const ends = [0, 0, null, 5e-324, 1e-9, 9.97e-4, 9.5e-3, 9.999e-2, 0.95, 1, 9.007e15, 1.8446744073709552e19, 1.7e308];
  const value = () => pick([...ends, random(), random() * 1e3, 10 ** (random() * 30 - 15), 10 ** (random() * 300 - 150)]);
  const count = () => value() || 0;
  const parts = ["n", "lag", "wait", "connect", "tls", "first_byte", "receive"];
  const row = (from, width) => {
    const row = { from_s: from, to_s: from + width, statuses: { 200: count() }, failure_kinds: { timeout: count() } };
    for (const key of ["started", "completed", "failed", "n", "bytes_received"]) row[key] = count();
    for (const key of ["p50", "p90", "p99", "max", "in_flight", "waiting", "users"]) row[key] = value();
    if (random() < 0.7) row.time_split = Object.fromEntries(parts.map((key) => [key, count()]));
    return row;
  };
  const found = [];
  for (let round = 0; round < %d; round++) {
    const rows = 1 + Math.floor(random() * 40), width = pick([0.1, 0.5, 1, 2, 1e6]), from = pick([0, 0, 5, 1e5, 9e9]);
    summary.series = Array.from({ length: rows }, (_, i) => row(from + i * width, width));
    for (const name of steps) {
      const of = (_, i) => ({ from_s: i, to_s: i + 1, n: 1, failed: count(), p50: value(), p99: value() });
      summary.by_label[name].series = Array.from({ length: 1 + Math.floor(random() * rows) }, of);
    }
    const columns = 1 + Math.floor(random() * 120), edges = [pick([0, 5e-7, 1e-3]), ...Array.from({ length: 1 + Math.floor(random() * 47) }, (_, i) => 2e-3 * 2 ** (i / 2))];
    const counts = Array.from({ length: columns }, () => edges.slice(1).map(() => pick([0, 0, 1, 7, 1e6, 9.007e15])));
    summary.curves.response_grid = { from_s: 0, width_s: width, edges, counts };
    summary.measured.from_s = count();
    const { percentiles, headway } = summary.curves;
    for (const point of [...percentiles.response, ...percentiles.service]) point.value = count();
    for (const bin of headway.bins) { bin.observed = count(); bin.expected = count(); }
    for (const of of summary.arrivals.dispersion) Object.assign(of, { index: count(), se: count(), expected: count() });
    logTime = random() < 0.5;
    page.dataset.errors = "";
    stretch = pick([null, null, [from, from + width], [from + width / 3, from + 3 * width]]);
    step = pick([null, null, steps[0]]);
    drawAll();
    await new Promise((next) => setTimeout(next, 5));
    if (page.dataset.errors) found.push(`round ${round}: ${page.dataset.errors}`);
  }
  return found;
})()
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=pathlib.Path, metavar="REPORT.html")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=100)
    arguments = parser.parse_args()
    with browsing() as browser:
        page = Page(browser, 1280)
        page.open(arguments.report.resolve().as_uri(), 0.1)
        browser.renew()
        found = page.value(ROUNDS % (arguments.seed, arguments.rounds), awaitPromise=True)
    if found:
        sys.exit("\n".join(found[:8]))
    print(f"{arguments.rounds} rounds from seed {arguments.seed}: every chart was drawn")


if __name__ == "__main__":
    main()

"""The load verdict against the kernel that received the load, while the generator is hindered in every way that can be had.

Each run is judged twice: by headway, and here, from the plan (`headway plan`) and the receive stamps of the target's kernel
(`headway serve --arrivals-log`). Nothing of the generator's own records is used. A load that headway calls VALID although more than 1 % of it
came late or never is a miss; one that it calls INVALID although what came is the plan is a false accusation. Both by 95 %
intervals; what lies astride is neither.
"""

import math
import signal

import kernel
from harness import Headway, Skipped, check, expect, free_port, note, start_run, wait_for
from hindrances import GENERATOR, TARGET, Uplink, bursts, hog, nothing, pulses, quota
from kernel import LATE_S, TOLERATED, TRANSIT_S, cov, is_clean, late_ones, share


class Row:
    def __init__(self, what, rate, played):
        due, came, seconds, summary = played
        self.what, self.rate, self.due, self.came = what, rate, len(due), len(came)
        self.late = share(late_ones(due, came, LATE_S + TRANSIT_S), due, seconds)
        self.clean = share(late_ones(due, came, LATE_S), due, seconds)[2] < TOLERATED and is_clean(due, came, seconds)
        self.cov = cov(came) if len(came) > 2 else math.nan
        self.verdict = summary["verdict"]["load"]
        limited = summary["verdict"]["limited_by"]
        # Said in the verdict's line from this share on.
        self.limited = limited["what"] if limited and limited["share"] > limited["tolerated"] else None
        self.failed = [r["rule"] for r in summary["verdict"]["rules"] if r["outcome"] == "fail"]
        late = self.late[1] > TOLERATED
        # The user asked for the cap and reads what it did.
        missed = self.verdict == "VALID" and late and not self.limited
        accused = self.verdict == "INVALID" and self.clean
        self.word = "MISS" if missed else "FALSE" if accused else "right" if late or self.clean else "astride"

    def __str__(self):
        value, low, high = (100 * x for x in self.late)
        limited = f" limited by {self.limited}" if self.limited else ""
        failed = f" ({', '.join(dict.fromkeys(self.failed))})" if self.failed else ""
        return (
            f"{self.what:<26} {self.rate:>5}/s {self.due:>6} {self.came:>6}  {value:6.2f} % ({max(0.0, low):5.2f} to {high:6.2f})"
            f"  {self.cov:5.2f}  {self.verdict}{limited}{failed}: {self.word}"
        )


def most_by_chance(n, p=0.01):
    """So many of n go wrong with more than 1 % of probability, if each does by chance with p."""
    tail, k = 1.0, -1
    while tail > 0.01:
        k += 1
        tail -= math.comb(n, k) * p**k * (1 - p) ** (n - k)
    return k


@check("verdict against the target's kernel: hindered generators are found out, sound ones are not accused", alone=True)
def impairments(tmp):
    slow = ("--service", "exp(4ms)", "--servers", "16")
    runs = []
    for rate in (100, 1000, 5000):
        runs += [
            ("nothing", rate, {}),
            ("stopped 5 ms every 2 s", rate, {"hinder": pulses(0.005, 2)}),
            ("stopped 20 ms every 0.5 s", rate, {"hinder": pulses(0.02, 0.5)}),
            ("stopped 100 ms every 1 s", rate, {"hinder": pulses(0.1, 1)}),
            ("core taken 3 ms in 1 s", rate, {"hinder": bursts(0.003, 1)}),
            ("core taken 30 ms in 0.3 s", rate, {"hinder": bursts(0.03, 0.3)}),
            ("a loop on its core", rate, {"hinder": hog()}),
            ("an idle loop on its core", rate, {"hinder": hog("chrt", "-i", "0")}),
        ]
    runs += [
        ("quota of 2 %", 100, {"hinder": quota(2)}),
        ("quota of 5 %", 1000, {"hinder": quota(5)}),
        ("quota of 10 %", 5000, {"hinder": quota(10)}),
        ("-c 1, 4 ms a request", 100, {"flags": ("-c", "1"), "serve": slow}),
        ("-c 2, 4 ms a request", 200, {"flags": ("-c", "2"), "serve": slow}),
        ("-c 400, 4 ms a request", 1000, {"flags": ("-c", "400"), "serve": slow}),
    ]
    rows, skipped = [], []

    def one(what, rate, options):
        try:
            rows.append(Row(what, rate, kernel.play(tmp, what, rate, 100 + len(rows), **options)))
        except Skipped as reason:
            skipped.append(f"{what}: {reason}")

    for what, rate, options in runs:
        one(what, rate, options)
    for link, rates in (("8mbit", (500, 800, 1000)), ("1gbit", (1000,))):
        try:
            with Uplink(link) as uplink:
                for rate in rates:
                    one(f"uplink of {link}, 1 KB", rate, {"uplink": uplink, "body": 1000})
        except Skipped as reason:
            skipped.append(f"uplink of {link}: {reason}")
    note(f"{'hindrance':<26} {'rate':>7} {'due':>6} {'came':>6}  late by over 1.2 ms, or never   CoV  verdict")
    for row in rows:
        note(str(row))
    for reason in skipped:
        note(f"skipped: {reason}")
    wrong = [row for row in rows if row.word in ("MISS", "FALSE")]
    shown = sum(row.word == "right" for row in rows)
    note(f"{len(rows)} runs; {shown} decided by the kernel's stamps, {len(wrong)} of them otherwise than headway")
    expect(len(rows) >= 24, f"only {len(rows)} runs: {skipped}")
    hindered = [row for row in rows if row.late[1] > TOLERATED]
    expect(len(hindered) >= 6, "too few hindrances hinder anything: nothing was shown")
    allowed = most_by_chance(len(rows))
    expect(len(wrong) <= allowed, f"{len(wrong)} verdicts against what the kernel saw, {allowed} by chance:\n" + "\n".join(map(str, wrong)))


@check("generator's share: of a load with stalls, the p99 of the same load without them lies between both ends", alone=True)
def generators_share(tmp):
    # M/M/1 of 1 ms at 500/s: p99 is 2 ms x ln 100 = 9.2 ms, and more by what the target itself adds to each service. Over 60 s its
    # sampling error is some 4 %.
    def p99(name, hinder):
        port = free_port()
        target = Headway(["serve", "--listen", f"127.0.0.1:{port}", "--service", "exp(1ms)"], tmp, wrap=TARGET)
        try:
            wait_for(lambda: "serving at" in target.text(target.err) or target.process.poll() is not None, "serve to listen")
            load = ["-R", "500", "-d", "60s", "--seed", "5", "--threads", "1", "--threshold", "p(99)<12ms"]
            running = start_run(f"http://127.0.0.1:{port}/", *load, tmp=tmp, name=name, wrap=GENERATOR)
            with hinder(running):
                ended = running.ended()
        finally:
            target.signal(signal.SIGINT)
            target.ended(20)
        threshold = ended.summary["thresholds"][0]
        both = ended.summary["response"]["generator_share"]["p99"]
        low, high = both
        note(
            f"{name}: p99 {1e3 * low:.2f} to {1e3 * high:.2f} ms; {ended.summary['verdict']['load']}; "
            f"threshold {threshold['text']}: {threshold['outcome']}, exit {ended.code}"
        )
        if low < 0.012 <= high:
            expect(threshold["outcome"] == "not-judged" and ended.code == 98, f"{threshold}, exit {ended.code}")
            expect("the generator's own delays move" in threshold["reason"]["text"], threshold["reason"]["text"])
        return both

    sound, hindered = p99("undisturbed", nothing), p99("stopped 18 ms every 2 s", pulses(0.018, 2))
    expect(hindered[0] <= 1.15 * sound[1], f"{hindered} does not begin below {sound}")
    expect(hindered[1] >= 0.9 * sound[0], f"{hindered} does not reach {sound}")
    expect(hindered[1] > 1.15 * hindered[0], f"stalls of 18 ms do not show: {hindered}")

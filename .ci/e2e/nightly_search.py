"""`headway search` against a server whose knee follows from Erlang C: the interval holds it. It takes one to six minutes."""

import json
import math

from harness import Headway, Serve, check, expect, note

# Mean service time in seconds, servers, limit of the response time in seconds, share that may be beyond it.
SERVICE, SERVERS, LIMIT, SHARE = 0.008, 4, 0.1, 0.01
# Near the knee 90 % of the servers are busy, and queues are long.
PRECISION, BUDGET = 0.15, 330
# What a loopback, two event loops and the timer of the server add to a response, at most, on a machine that is not busy otherwise.
ADDED = 0.003


def beyond(rate, limit):
    """Share of the responses of M/M/c that take longer than the limit: those that wait (Erlang C) are served after an exponential time
    of rate c/s - rate, and an exponential service."""
    load, serve, drain = rate * SERVICE, 1 / SERVICE, SERVERS / SERVICE - rate
    blocked = 1.0
    for n in range(1, SERVERS + 1):
        blocked = load * blocked / (n + load * blocked)
    waits = blocked / (1 - load / SERVERS * (1 - blocked))
    # The two rates are equal at one load, far below the knee: a little beside it the formula is as good.
    drain += serve * 1e-6 if math.isclose(serve, drain, rel_tol=1e-6) else 0
    both = (serve * math.exp(-drain * limit) - drain * math.exp(-serve * limit)) / (serve - drain)
    return (1 - waits) * math.exp(-serve * limit) + waits * both


def knee(limit):
    low, high = 0.0, SERVERS / SERVICE
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle, limit) <= SHARE else (low, middle)
    return low


@check("nightly search: a live target of four servers has the knee that Erlang C gives", alone=True)
def of_four_servers(tmp):
    with Serve("--service", f"exp({SERVICE * 1e3:g}ms)", "--servers", SERVERS, tmp=tmp) as server:
        out = tmp / "found.json"
        limit = f"p({100 - 100 * SHARE:g})<{LIMIT * 1e3:g}ms"
        ask = ["search", server.url, "--threshold", limit, "--precision", f"{PRECISION:.0%}", "--budget", f"{BUDGET}s", "--seed", 2]
        ended = Headway([*ask, "--json", out, "--quiet"], tmp).ended(BUDGET + 30).exits(0, 97)
    found = json.loads(out.read_text())
    low, high = found["interval"]
    expect(low and high, f"the interval has one end: {low} to {high}/s")
    # What is added to each response takes that much from the limit.
    exact, slower = knee(LIMIT), knee(LIMIT - ADDED)
    note(f"{low:.1f} to {high:.1f}/s ({found['outcome']}); exact {exact:.1f}/s, and {slower:.1f}/s with {ADDED * 1e3:g} ms added; {found['took_s']:.0f} s, {found['requests']} requests")
    # A search that its budget ended has the interval so far, which is wider.
    expect(ended.code == 97 or found["reached"] <= PRECISION, f"half the width is {found['reached']}")
    expect(low <= found["estimate"] <= high, f"the estimate: {found['estimate']}")
    expect(low <= exact and slower <= high, f"{low:.1f} to {high:.1f}/s does not hold {slower:.1f} to {exact:.1f}/s")

"""Live comparisons: two servers which differ by 3 % are told from each other, two equal ones are not in 19 of 20.

How long the rounds are follows from the power that they need, and how many comparisons may miss from the binomial: see `power` and
`most`. Both checks together take seven minutes.
"""

import json
import math

from harness import Serve, check, expect, headway, note

# Requests per second; of their service times the coefficient of variation; servers of which 40 % are busy, so that requests hardly wait.
RATE, COV, SERVERS = 1000, 0.5, 20
DIFFER = {"comparisons": 4, "rounds": 10, "each": 2.5, "warmup": 0.5}
EQUAL = {"comparisons": 24, "rounds": 5, "each": 0.5, "warmup": 0.1}
# A check fails by chance in at most this share of nights.
BY_CHANCE = 0.01


def beyond(point, degrees, shift):
    """Probability that Student's t with that shift of its numerator, in standard errors, exceeds the point."""
    normal = lambda x: 0.5 * math.erfc(x / math.sqrt(2))
    # By the midpoint rule over the estimated standard deviation, in units of the true one.
    places = [(i + 0.5) / 500 for i in range(2000)]
    density = [math.exp((degrees - 1) * math.log(s) - degrees * s * s / 2) for s in places]
    return sum(d * normal(point * s - shift) for s, d in zip(places, density)) / sum(density)


def power(ratio, looked_at, rounds, each):
    """Probability that the interval of the mean's ratio excludes 1: Student's t over rounds of independent requests, where all of so
    many numbers hold together with 95 % (Sidak)."""
    tail = (1 - 0.95 ** (1 / looked_at)) / 2
    low, high = 0.0, 100.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle, rounds - 1, 0) > tail else (low, middle)
    error = COV * math.sqrt(2 / (rounds * each * RATE))
    return beyond(high, rounds - 1, math.log(ratio) / error)


def most(n, share):
    """The smallest number which a binomial of n trials with that share exceeds with a probability of at most BY_CHANCE."""
    chance = [math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(n + 1)]
    return next(k for k in range(n + 1) if sum(chance[k + 1 :]) <= BY_CHANCE)


def compared(tmp, means, comparisons, rounds, each, warmup):
    """The first pair of so many live comparisons; those are left out whose loads were INVALID too often."""
    found = []
    service = lambda mean: ["--service", f"gamma({mean}ms,{COV})", "--servers", str(SERVERS)]
    with Serve(*service(means[0]), tmp=tmp) as one, Serve(*service(means[1]), tmp=tmp) as two:
        for seed in range(comparisons):
            out = tmp / f"{seed}.json"
            flags = ["-R", RATE, "--rounds", rounds, "--each", f"{each}s", "--warmup", f"{warmup}s", "--seed", seed]
            headway("compare", "--live", one.url, two.url, *flags, "--json", out, "--quiet", cwd=tmp).exits(0, 2)
            pair = json.loads(out.read_text())["pairs"][0]
            if pair["verdict"]["is"] != "not-comparable":
                found.append((pair["verdict"]["is"], {row["of"]: row for row in pair["rows"]}))
    return found


@check("nightly compare: two servers which differ by 3 %, 8 and 8.24 ms, are told from each other", alone=True)
def three_per_cent(tmp):
    expected = power(1.03, 8, DIFFER["rounds"], DIFFER["each"])
    found = compared(tmp, (8, 8.24), **DIFFER)
    for is_, rows in found:
        note(f"{is_}: mean {rows['mean']['ratio']:.4f} {rows['mean']['ratio_interval']}, p50 {rows['p50']['ratio']:.4f} {rows['p50']['ratio_interval']}")
    expect(2 * len(found) > DIFFER["comparisons"], f"the loads of most comparisons were INVALID: {len(found)} are left")
    told = sum(rows["mean"]["shown"] == "higher" for _, rows in found)
    may_miss = most(len(found), 1 - expected)
    note(f"told in {told} of {len(found)}; {20 * expected:.1f} of 20 are expected, and at least {len(found) - may_miss} of {len(found)}")
    expect(len(found) - told <= may_miss, f"told in {told} of {len(found)}")
    expect(not any(rows[of]["shown"] == "lower" for _, rows in found for of in ("mean", "p50")), "a difference was shown the wrong way round")


@check("nightly compare: two equal servers are not told from each other in 19 of 20 comparisons", alone=True)
def equal_ones(tmp):
    found = compared(tmp, (8, 8), **EQUAL)
    differ = [[of for of, row in rows.items() if row["shown"] in ("higher", "lower")] for is_, rows in found if is_ == "differs"]
    may_differ = most(len(found), 0.05)
    note(f"{len(differ)} of {len(found)} are called different ({differ}); at most {may_differ} where 1 in 20 is")
    expect(2 * len(found) > EQUAL["comparisons"], f"the loads of most comparisons were INVALID: {len(found)} are left")
    expect(len(differ) <= may_differ, f"{len(differ)} of {len(found)} are called different: {differ}")

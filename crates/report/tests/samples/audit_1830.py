#!/usr/bin/env python3
"""Numbers of a real audit in the document's own shape, from the JMeter file of Brady's test 1830 (Brady 2012).

    audit_1830.py 1830_AggRpt.csv > audit_1830.json

Selection (120 s skipped, 1200 s kept, both ends included), quantiles and the length of the data are those of Brady's
tool (web-generator-toolkit 3.0.0). Times in seconds, as in the document. Needs only Python's standard library.
"""

import json
import math
import sys

PERCENTILES = (90, 95, 99)
GROUPS = (*range(1, 11), *range(15, 51, 5), *range(75, 201, 25))
SECOND = 1000  # of the file's clock


def moments(values):
    n = len(values)
    mean = math.fsum(values) / n
    central = [math.fsum((x - mean) ** k for x in values) for k in (2, 3, 4)]
    sd = math.sqrt(central[0] / (n - 1)) if n > 1 else 0.0
    return n, mean, sd, central


def cov_se(values):
    """Standard error of the coefficient of variation by the delta method."""
    n, mean, sd, (m2, m3, m4) = moments(values)
    if sd == 0 or mean == 0:
        return None
    cov, skewness, kurtosis = sd / mean, (m3 / n) / (m2 / n) ** 1.5, (m4 / n) / (m2 / n) ** 2
    return cov * math.sqrt(max(0.0, ((kurtosis - 1) / 4 + cov * cov - skewness * cov) / n))


def column(label, values, span, headways=False, failed=0, received=0.0):
    ordered = sorted(values)
    n, mean, sd, _ = moments(values)
    return {
        "label": label,
        "n": n,
        "rate": n / span,
        "median": ordered[(n - 1) // 2],
        "mean": mean,
        "sd": sd,
        "cov": sd / mean,
        "cov_se": cov_se(values),
        "cov_se_poisson": 1 / math.sqrt(n) if headways else None,
        "vmr": sd * sd / mean,
        "percentiles": [ordered[int(p / 100 * (n - 0.5))] for p in PERCENTILES],
        "min": ordered[0],
        "max": ordered[-1],
        "failed": failed,
        "bytes_per_second": received / span,
    }


def gaps(stamps):
    ordered = sorted(stamps)
    return [(b - a) / SECOND for a, b in zip(ordered, ordered[1:])]


def counts_in(stamps, first, length, windows):
    counts = [0] * windows
    for at in stamps:
        place = (at - first) // length
        if place < windows:
            counts[place] += 1
    return counts


def dispersion(stamps, first, last, length):
    windows = (last - first) // length
    _, mean, sd, _ = moments(counts_in(stamps, first, length, windows))
    return {
        "window": length / SECOND, "index": sd * sd / mean, "se": math.sqrt(2 / (windows - 1)),
        "windows": windows, "expected": 1.0, "intended": None,
    }


def headway_curve(headways, bins=64, span=8.0):
    n, mean, _, _ = moments(headways)
    width = span / bins
    observed = [0] * (bins + 1)
    for x in headways:
        observed[min(int(x / mean / width), bins)] += 1
    beyond = lambda x: math.exp(-x)
    row = lambda i: {
        "from": i * width, "to": (i + 1) * width, "observed": observed[i],
        "expected": n * (beyond(i * width) - beyond((i + 1) * width)),
    }
    tail = {"from": span, "to": None, "observed": observed[bins], "expected": n * beyond(span)}
    return {"n": n, "law": "exponential", "unit_s": mean, "bins": [row(i) for i in range(bins)], "tail": tail}


def count_curve(stamps, first, last, length, highest):
    windows = (last - first) // length
    counts = counts_in(stamps, first, length, windows)
    _, mean, sd, _ = moments(counts)
    share = [math.exp(-mean) * mean ** k / math.factorial(k) for k in range(highest)]
    share.append(1 - sum(share))
    bins = [
        {"count": k, "observed": sum(min(c, highest) == k for c in counts), "expected": windows * share[k]}
        for k in range(highest + 1)
    ]
    return {
        "interval_s": length / SECOND, "n": windows, "mean": mean, "vmr": sd * sd / mean,
        "empty": counts.count(0), "bins": bins,
    }


def main():
    rows = [line.rstrip("\n").split(",") for line in open(sys.argv[1], encoding="ascii")]
    rows.sort()
    begin = int(rows[0][0]) + 120 * SECOND
    rows = [row for row in rows if begin <= int(row[0]) <= begin + 1200 * SECOND]
    stamps = [int(row[0]) for row in rows]
    first, last = min(stamps), max(stamps)
    tables = {name: [] for name in ("headways", "response", "first_byte", "bytes", "bandwidth")}
    for label in [*sorted({row[2] for row in rows}), "Total"]:
        own = [row for row in rows if label in (row[2], "Total")]
        # The end of the data is that of the last row by start, not the latest end.
        span = (int(own[-1][0]) + int(own[-1][1]) - int(own[0][0])) / SECOND
        of = lambda field, unit: [int(row[field]) / unit for row in own]
        rest = {"failed": sum(row[7] == "false" for row in own), "received": math.fsum(of(8, 1))}
        speeds = [b / r for b, r in zip(of(8, 1), of(1, SECOND)) if r > 0]
        for name, values in (
            ("headways", gaps(int(row[0]) for row in own)), ("response", of(1, SECOND)),
            ("first_byte", of(9, SECOND)), ("bytes", of(8, 1)), ("bandwidth", speeds),
        ):
            tables[name].append(column(label, values, span, name == "headways", **rest))
    groups = []
    for users in GROUPS:
        own = [row for row in rows if int(row[5].rpartition("-")[2]) <= users]
        headways = gaps(int(row[0]) for row in own)
        n, mean, sd, _ = moments(headways)
        span = (int(own[-1][0]) + int(own[-1][1]) - int(own[0][0])) / SECOND
        groups.append({
            "name": f"1-{users}" if users > 1 else "1", "users": users, "n": n, "rate": n / span,
            "headway_mean": mean, "headway_sd": sd, "cov": sd / mean, "cov_se": cov_se(headways),
        })
    print(lines({
        "tables": tables,
        "thread_groups": groups,
        "dispersion": [dispersion(stamps, first, last, length) for length in (100, 315, 1000, 3150, 10000)],
        "headway": headway_curve(gaps(stamps)),
        "counts": count_curve(stamps, first, last, 63, 9),
    }))


def lines(value, indent=""):
    """JSON with one line for each object that holds only plain values."""
    inner = lambda x: list(x.values()) if isinstance(x, dict) else x if isinstance(x, list) else []
    holds = lambda x: isinstance(x, dict) or any(map(holds, inner(x)))
    if not any(map(holds, inner(value))):
        return json.dumps(value)
    deeper = indent + " "
    if isinstance(value, dict):
        parts = [f"{deeper}{json.dumps(key)}: {lines(x, deeper)}" for key, x in value.items()]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(deeper + lines(x, deeper) for x in value) + f"\n{indent}]"


main()

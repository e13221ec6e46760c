"""Live comparisons: two servers which differ by 3 % are told from each other, two equal ones are not in 19 of 20."""

import json

from harness import Serve, check, expect, headway, note

LOAD = ["-R", "400", "--rounds", "10"]


def shown(tmp, name, *urls_and_flags):
    """What the first pair of a live comparison comes to; none where a load was INVALID too often."""
    out = tmp / f"{name}.json"
    headway("compare", "--live", *urls_and_flags, "--json", out, "--quiet", cwd=tmp).exits(0, 2)
    pair = json.loads(out.read_text())["pairs"][0]
    is_, rows = pair["verdict"]["is"], pair["rows"]
    return None if is_ == "not-comparable" else (is_, {row["of"]: row for row in rows})


@check("nightly compare: two servers which differ by 3 %, exp(8ms) and exp(8.24ms), are told from each other in two of three comparisons", alone=True)
def three_per_cent(tmp):
    with Serve("--service", "exp(8ms)", "--servers", "8", tmp=tmp) as one, Serve("--service", "exp(8.24ms)", "--servers", "8", tmp=tmp) as two:
        found = [shown(tmp, f"c{seed}", one.url, two.url, *LOAD, "--each", "8s", "--warmup", "1s", "--seed", str(seed)) for seed in (1, 2, 3)]
    told = [of for of in found if of]
    for is_, rows in told:
        note(f"{is_}: mean {rows['mean']['ratio']:.4f} {rows['mean']['ratio_interval']}, p50 {rows['p50']['ratio']:.4f} {rows['p50']['ratio_interval']}")
    expect(len(told) >= 2, "the loads of two comparisons of three were INVALID")
    slower = [rows["mean"]["shown"] == "higher" or rows["p50"]["shown"] == "higher" for _, rows in told]
    expect(sum(slower) >= 2 and not any(row["shown"] == "lower" and row["of"] in ("mean", "p50") for _, rows in told for row in rows.values()), f"slower: {slower}")


@check("nightly compare: two equal servers are called different in at most one of 20 comparisons", alone=True)
def equal_ones(tmp):
    with Serve("--service", "exp(8ms)", "--servers", "8", tmp=tmp) as one, Serve("--service", "exp(8ms)", "--servers", "8", tmp=tmp) as two:
        found = [shown(tmp, f"e{seed}", one.url, two.url, "-R", "300", "--rounds", "5", "--each", "1s", "--warmup", "200ms", "--seed", str(seed)) for seed in range(20)]
    told = [of for of in found if of]
    differ = [rows for is_, rows in told if is_ == "differs"]
    note(f"{len(told)} of 20 compared, {len(differ)} called different")
    expect(len(told) >= 10, "the loads of most comparisons were INVALID")
    expect(len(differ) <= 1, f"{len(differ)} of {len(told)} called different")

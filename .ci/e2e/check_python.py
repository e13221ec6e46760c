"""The Python package: what runs, studies, searches and comparisons write, read as tables."""

import json
import sys

from harness import ROOT, check, equal, expect, headway

sys.path.append(str(ROOT / "packaging/python"))

MODEL = """
target: http://127.0.0.1:9/
users: { arrive: { rate: 100/s }, phases: [ { hold: 5s } ] }
journey: [ { get: / } ]
model: { servers: 4, service: exp(20ms) }
"""


@check("python: a run, a study, a search and a comparison are read as tables; what is none of them is an error")
def documents(tmp):
    import headway as package

    file = tmp / "m4.yaml"
    file.write_text(MODEL)
    for name, seed in (("one", "3"), ("two", "4")):
        headway("sim", file, "--seed", seed, "--quiet", "--log", "--out", tmp / name, cwd=tmp)
    one = package.read(tmp / "one")
    expect(isinstance(one, package.Run) and one.arrow().num_rows > 300, f"{one}")

    headway("sim", file, "--sweep", "rate=50,100", "--replications", "2", "--seed", "3", "--quiet", "--out", tmp / "study", cwd=tmp)
    study = package.read(tmp / "study")
    written = json.loads((tmp / "study/study.json").read_text())
    expect(isinstance(study, package.Study), f"{study}")
    equal(study.arrow()["response.p99.mean"].to_pylist(), [point["response"]["p99"]["mean"] for point in written["points"]], "p99 of the points")
    equal(study.arrow()["rate"].to_pylist(), ["50", "100"], "the parameter of the points")

    headway("search", file, "--sim", "--threshold", "p(90)<100ms", "--seed", "3", "--quiet", "--json", tmp / "search.json", cwd=tmp)
    search = package.read(tmp / "search.json")
    low, high = search.interval
    expect(isinstance(search, package.Search) and low <= search.estimate <= high, f"{search}: {search.estimate}, {search.interval}")
    equal(search.arrow().num_rows, len(search.document["trials"]), "trials")

    headway("compare", tmp / "one", tmp / "two", "--quiet", "--json", tmp / "comparison.json", cwd=tmp)
    comparison = package.read(tmp / "comparison.json")
    rows = comparison.rows()
    expect(isinstance(comparison, package.Comparison) and {"p99", "mean"} <= {row["of"] for row in rows}, f"{rows[:1]}")
    p99 = next(row for row in rows if row["of"] == "p99" and row.get("label") is None)
    equal([p99["base.value"], p99["other.value"]], [package.read(tmp / name).summary["response"]["p99"] for name in ("one", "two")], "p99 of both runs")

    (tmp / "empty").mkdir()
    (tmp / "other.json").write_text('{"schema": "another/1"}')
    for wrong, kind in ((tmp / "other.json", ValueError), (tmp / "nothing", FileNotFoundError), (tmp / "empty", FileNotFoundError)):
        try:
            package.read(wrong)
        except kind as error:
            expect(str(wrong) in str(error), f"{error}")
        else:
            expect(False, f"{wrong} was read")

"""A build without Parquet, SQLite and zstd: it says what it lacks and how to get it, and leaves nothing behind."""

import shutil

from harness import ROOT, check, contains, expect, flat, headway

SAMPLES = ROOT / "crates/import/tests/samples"


def lacks(ended, what, feature):
    ended.exits(2)
    contains(flat(ended.err), f"this headway was built without {what}", "stderr")
    contains(flat(ended.err), f"--features {feature}`", "stderr")


@check("features: without parquet, report --parquet exits 2 before it writes anything")
def parquet(tmp):
    out = tmp / "out.parquet"
    run = ROOT / "crates/cli/tests/folders/0.1.0/run"
    lacks(headway("report", run, "--parquet", out, cwd=tmp), "Parquet", "parquet")
    expect(not out.exists(), "a file was written")
    (tmp / "export.parquet").write_bytes(b"PAR1 and more")
    lacks(headway("audit", "export.parquet", cwd=tmp), "Parquet", "parquet")


@check("features: without sqlite, a database of oha is recognised and refused; without zstd, a compressed file")
def others(tmp):
    database = next(path for path in sorted((SAMPLES / "oha-sqlite").iterdir()) if path.read_bytes().startswith(b"SQLite format 3"))
    shutil.copy(database, tmp / "oha.sqlite")
    lacks(headway("audit", "oha.sqlite", cwd=tmp), "SQLite", "sqlite")
    ended = headway("audit", SAMPLES / "jmeter-csv/1830_AggRpt.csv.zst", cwd=tmp)
    lacks(ended, "zstd", "zstd")
    contains(flat(ended.err), "zstd -dc", "stderr")


@check("features: all else works: a demo's report, and an audit of a gzipped file")
def rest(tmp):
    headway("demo", cwd=tmp).exits(0, 97, 98)
    packed = next(path for path in sorted((SAMPLES / "vegeta-csv").iterdir()) if path.suffix == ".gz")
    headway("audit", packed, cwd=tmp).exits(0)

"""What Headway has measured, as tables.

    import headway

    run = headway.read("headway-runs/20261125T083159-127.0.0.1-34605")
    run.summary["response"]["p99"]
    run.pandas(), run.polars(), run.arrow()              # one row is one request

    headway.read("study.json").pandas()                  # one row is one point
    headway.read("search.json").estimate                 # the knee; one row is one trial
    headway.read("comparison.json").pandas()             # one row is one number of two runs

docs/reference.md of Headway describes the columns of a run, docs/summary.md the other documents. Instants are nanoseconds since the
plan's zero. What is not known is None, and null in tables.
"""

from headway._run import Comparison, Document, Run, Search, Study, read

__all__ = ["Comparison", "Document", "Run", "Search", "Study", "read"]

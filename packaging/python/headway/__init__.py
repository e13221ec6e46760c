"""What Headway has measured, as tables.

    import headway

    run = headway.read("headway-runs/20261125T083159-127.0.0.1-34605")
    run.summary["response"]["p99"]
    run.pandas(), run.polars(), run.arrow()

One row is one request; docs/reference.md of Headway describes the columns. Instants are nanoseconds since the plan's zero.
"""

from headway._run import Run, read

__all__ = ["Run", "read"]

"""Writes the samples of HdrHistogram's interval log and percentile table. Needs hdrhistogram 0.10.3 of PyPI."""

from pathlib import Path

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogWriter

FOLDER = Path(__file__).parent.parent / "refused"
BEGAN_MS = 1_763_700_000_000
SECONDS = 3


def second(number):
    """A second of response times in us, all different."""
    histogram = HdrHistogram(1, 60_000_000, 2)
    for i in range(100):
        histogram.record_value(1_000 + 37 * i * (number + 1))
    histogram.set_start_time_stamp(BEGAN_MS + 1000 * number)
    histogram.set_end_time_stamp(BEGAN_MS + 1000 * (number + 1))
    return histogram


with open(FOLDER / "hdr-log.hlog", "w") as file:
    log = HistogramLogWriter(file)
    log.output_log_format_version()
    log.output_legend()
    for number in range(SECONDS):
        log.output_interval_histogram(second(number))

for name, csv in ("hdr-percentiles.txt", False), ("hdr-percentiles.csv", True):
    with open(FOLDER / name, "wb") as file:
        second(0).output_percentile_distribution(file, 1000.0, 1, csv)

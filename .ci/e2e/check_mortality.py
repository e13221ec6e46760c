"""Targets that die under load: the run ends, within its time. The worst few; nightly_mortality has each pair of fault, load, protocol and verb."""

from harness import check
from mortality import all_end


@check("mortality: a target that is killed, or fails its newest requests first, at four times its capacity: the run ends")
def dies(tmp):
    all_end([("killed", "four times", "http1", "run"), ("newest first", "four times", "http1", "run")], tmp)


@check("mortality: a target that is stopped, started again or cut off beyond its capacity: search, shards and comparison end")
def hangs(tmp):
    all_end(
        [
            ("stopped", "four times", "http2", "shards"),
            ("restarted", "at capacity", "tcp", "search"),
            ("cut off", "four times", "udp", "compare"),
        ],
        tmp,
    )

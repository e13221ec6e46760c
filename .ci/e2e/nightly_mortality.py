"""Targets that die under load: each pair of fault, load, protocol and verb occurs, and each command ends within its time."""

from harness import check, note
from mortality import FACTORS, all_end, pairwise


@check("mortality: each pair of fault, load, protocol and verb: every command ends")
def matrix(tmp):
    rows = pairwise(FACTORS)
    note(f"{len(rows)} rows")
    all_end(rows, tmp)

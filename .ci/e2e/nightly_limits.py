"""The verdict against what really arrived, where descriptors or local ports run out: every kind of load at several levels."""

from harness import check, expect, note
from limits import HEAD, KINDS, judged

# Of some 20 connections that each needs.
LEVELS = (1, 5, 12, 18, 40)


def table(what, tmp):
    rows, wrong = [], []
    for kind in KINDS:
        for allowed in LEVELS:
            row, of_it = judged(kind, what, allowed, tmp)
            rows.append(row)
            wrong += of_it
    for line in [*HEAD, *rows]:
        note(line)
    expect(not wrong, "\n".join(wrong))


@check("limits: out of descriptors in any kind of load, the verdict is never VALID where over 1 % never arrived")
def descriptors(tmp):
    table("descriptors", tmp)


@check("limits: out of ports in any kind of load, the verdict is never VALID where over 1 % never arrived")
def ports(tmp):
    table("ports", tmp)

"""Logs as pyarrow reads them, what a run says that it lost, and disks on which little fits."""

import contextlib
import re
import subprocess
import sys

import pyarrow

from harness import ROOT, Skipped, expect, flat

sys.path.append(str(ROOT / "packaging/python"))
from headway._run import without_end


def read_log(path):
    """The log to its last complete batch, by its messages and not by its footer."""
    with pyarrow.OSFile(str(path)) as file:
        return without_end(file)


@contextlib.contextmanager
def small_disk(folder, size):
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "headway-check", folder], capture_output=True, text=True
    )
    if mounted.returncode:
        raise Skipped(f"no tmpfs can be mounted here: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def told(ended):
    """Rows that the report says were lost and kept."""
    found = re.search(r"The log has lost ([\d,]+) rows? and holds ([\d,]+)", flat(ended.out))
    expect(found, f"the report tells of no lost rows; {ended}: {ended.out[-2000:]}")
    return tuple(int(n.replace(",", "")) for n in found.groups())


def on_stderr(ended):
    found = re.search(r"records\.arrow: (\d+) rows were lost", ended.err)
    expect(found, f"stderr tells of no lost rows; {ended}")
    return int(found.group(1))

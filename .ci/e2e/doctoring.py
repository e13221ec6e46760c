"""What `headway doctor` says of a plan in a place that lacks something, beside what ends the run of that plan."""

import contextlib
import json
import os
import pathlib

from harness import Failed, Skipped, equal, expect, headway

NOT_FIT = 98


def diagnosed(*arguments, tmp, name="doctor", codes=(NOT_FIT,), **options):
    """`headway doctor` of what `headway run` would be given: its document."""
    file = tmp / f"{name}.json"
    ended = headway("doctor", *arguments, "--json", file, cwd=tmp, **options).exits(*codes)
    document = json.loads(file.read_text())
    equal(document["schema"], "headway.doctor/1", "schema")
    return document, ended


def bound(document, resource):
    found = [bound for bound in document["bounds"] if bound["resource"] == resource]
    expect(found, f"no bound of {resource}: {document['bounds']}")
    return found[0]


def ends_first(document, resource):
    """It names that resource as what ends the plan, as a finding with a remedy; the bound."""
    first = document["first"]
    equal((first["resource"], first["ends"]), (resource, True), f"what ends first, of {document['bounds']}")
    equal(document["fitness"], "unfit", "fitness")
    errors = [f for f in document["findings"] if f["id"] == "exceeded" and f["bound"]["resource"] == resource]
    expect(errors and all(change["command"] for change in errors[0]["changes"]), f"findings: {document['findings']}")
    return first


class CpuQuota:
    """As a context: a control group whose processes may use so many cores together; `enter` is for a new process of its own."""

    PERIOD_US = 100_000
    PLACES = (("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "{quota}"), ("/sys/fs/cgroup", "cpu.max", "{quota} {period}"))

    def __init__(self, cores):
        self.cores, self.folder = cores, None

    def __enter__(self):
        quota = int(self.cores * self.PERIOD_US)
        for place, file, text in self.PLACES:
            folder = pathlib.Path(place) / f"headway-{os.getpid()}"
            with contextlib.suppress(OSError):
                folder.mkdir()
                self.folder = folder
                (folder / file).write_text(text.format(quota=quota, period=self.PERIOD_US))
                return self
            self.__exit__()
        raise Skipped("no control group with a CPU quota can be made here (that takes root)")

    def enter(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def __exit__(self, *_):
        if self.folder:
            with contextlib.suppress(OSError):
                self.folder.rmdir()
            self.folder = None
        return False


def blames_the_machine(ended, *ids):
    """The run was not sent as specified for one of these reasons, and its page leads to the doctor."""
    summary = ended.summary
    seen = {finding["id"] for finding in summary["verdict"]["findings"]}
    if summary["verdict"]["load"] != "INVALID" or not seen & set(ids):
        raise Failed(f"expected INVALID by one of {ids}, seen {summary['verdict']['load']} with {sorted(seen)}; {ended}")
    expect("headway doctor" in ended.out, f"the page does not name the doctor: {ended.out[-1500:]}")
    return summary

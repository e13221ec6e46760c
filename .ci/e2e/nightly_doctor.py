"""`headway doctor` on processor time: the rate that it names as the most is one beyond which a run is not sent as specified."""

from doctoring import CpuQuota, blames_the_machine, bound, diagnosed, ends_first
from harness import Serve, check, expect, note, run

LATE = ("late", "bunched", "saturated", "unsent", "stall")
LOAD = ["-d", "4s", "--seed", "5"]


def beyond(resource, tmp, **options):
    """Asks how much that resource allows, and sends two and a half times as much."""
    with Serve("--service", "const(0s)", "--servers", "1000", tmp=tmp) as server:
        document, _ = diagnosed(server.url, "-R", "1", *LOAD, tmp=tmp, name="probe", codes=(0,), **options)
        allows = bound(document, resource)["allows"]
        rate = f"{2.5 * allows:.0f}"
        document, _ = diagnosed(server.url, "-R", rate, *LOAD, tmp=tmp, **options)
        first = ends_first(document, resource)
        summary = blames_the_machine(run(server.url, "-R", rate, *LOAD, tmp=tmp, **options), *LATE)
        sent = summary["rate"]["started"]
        note(f"{resource}: allows {first['allows']:.0f}/s; of {rate}/s {sent:.0f}/s were sent")
        # What is allowed is what a worker handles in four fifths of its time, measured beside other processes.
        expect(sent < 2.2 * first["allows"], f"{sent}/s were sent, and {first['allows']}/s allowed")


@check("doctor: a worker's core ends a plan by the cost of a request, and a run beyond it is INVALID", alone=True)
def processor(tmp):
    beyond("processor", tmp)


@check("doctor: a CPU quota ends a plan, and a run beyond it is INVALID", alone=True)
def quota(tmp):
    with CpuQuota(0.25) as group:
        beyond("quota", tmp, before=group.enter)

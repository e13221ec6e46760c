"""What checks of the live view share: where it is, what it answers, and metrics as Prometheus' own parser reads them."""

import http.client
import json
import re

from harness import Failed, equal, expect, wait_for


def where(process):
    """The address of the live view of a process, and the token if there is one."""

    def said():
        if process.process.poll() is not None:
            raise Failed(f"ended before it said where to watch it: {process.text(process.err)!r}")
        return re.search(r"headway: watch it at (http://(\S+?):(\d+)/)(?:#(\w+))?", process.text(process.err))

    found = wait_for(said, "the address of the live view")
    return found.group(1), int(found.group(3)), found.group(4)


def get(port, path, method="GET", host=None, token=None, timeout=30):
    """Status, headers and text of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    headers = {"Host": host or f"127.0.0.1:{port}", **({"Authorization": f"Bearer {token}"} if token else {})}
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()
    finally:
        connection.close()


def follow(port, token=None):
    """Every snapshot of a run, to the last."""
    seen, number = [], 0
    while not seen or not seen[-1]["ended"]:
        status, _, text = get(port, f"/snapshot.json?after={number}", token=token)
        if status == 204:
            continue
        equal(status, 200, "status of a snapshot")
        seen.append(json.loads(text))
        number = seen[-1]["number"]
    return seen


def metrics(text):
    """The samples of an exposition, by name and labels, as Prometheus' own parser reads them."""
    from prometheus_client.openmetrics.parser import text_string_to_metric_families

    samples = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            expect(key not in samples, f"{key} twice")
            samples[key] = sample.value
    return samples


def total(samples, name):
    return sum(value for (own, _), value in samples.items() if own == name)

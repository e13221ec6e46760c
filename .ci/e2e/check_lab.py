"""`headway lab`: the published experiments run, print what they found, and give it as one document."""

import json

from harness import check, contains, equal, expect, flat, headway


def numbers(node):
    """Every number of a document."""
    if isinstance(node, dict):
        return [n for value in node.values() for n in numbers(value)]
    if isinstance(node, list):
        return [n for value in node for n in numbers(value)]
    return [node] if isinstance(node, (int, float)) else []


@check("lab: brady and fixed-work with few replications: text and document of one seed, published figures beside ours, 80 columns")
def labs(tmp):
    listed = headway("lab", cwd=tmp).exits(0).out
    for name, parts in [("brady", ["figure 16", "theory"]), ("fixed-work", ["published", "R p99"])]:
        contains(listed, name, "the list of experiments")
        path = tmp / f"{name}.json"
        told = headway("lab", name, "--replications", "2", "--seed", "3", "--json", path, cwd=tmp).exits(0)
        expect(len(told.out.splitlines()) > 20, f"{name}: {told.out!r}")
        wide = [line for line in told.out.splitlines() if len(line) > 80]
        expect(not wide, f"{name}: lines over 80 columns: {wide[:3]}")
        document = json.loads(path.read_text())
        equal((document["schema"], document["name"], document["seed"]), ("headway.lab/1", name, 3), f"{name}: head of the document")
        expect(document["tables"] and len(numbers(document["tables"])) > 100, f"{name}: {len(numbers(document))} numbers")
        cells = [cell for table in document["tables"] for row in table["rows"] for cell in row["cells"] if cell]
        expect(any(cell["published"] is not None and cell["replications"] for cell in cells), f"{name}: nothing beside a published figure")
        seen = [cell["replications"]["n"] for cell in cells if cell["replications"]]
        # A replication whose rates do not show the highest that holds is left out of that mean.
        expect(set(seen) <= ({2} if name == "brady" else {1, 2}) and seen.count(2) > 0.9 * len(seen), f"{name}: replications: {seen}")


@check("lab: poisson-udp in its short form: processes that send, sources before receivers, the model beside its published figures", alone=True)
def poisson_udp(tmp):
    path = tmp / "lab.json"
    told = headway("lab", "poisson-udp", "--short", "--replications", "2", "--json", path, cwd=tmp).exits(0)
    wide = [line for line in told.out.splitlines() if len(line) > 80]
    expect(not wide, f"lines over 80 columns: {wide[:3]}")
    contains(flat(told.out), "Whether they were the cause in the post is open", "the last sentence")
    document = json.loads(path.read_text())

    def titled(part):
        [found] = [table for table in document["tables"] if part in table["title"]]
        return found

    patterns, runs, came = titled("One rate, one receiver"), titled("The post's clients"), titled("What came from them")
    lost, most = titled("lost, %, by K"), titled("most in the system, by K")
    # Each number is a row too, whichever lab it is.
    cells = [cell for table in document["tables"] for row in table["rows"] for cell in row["cells"]]
    equal(len(document["rows"]), len(cells), "rows")
    equal([row["name"] for row in patterns["rows"]], ["even", "Poisson", "ticks of 1 ms", "ticks of 4 ms", "ticks of 10 ms"], "sources")
    modelled = [row["cells"][2]["replications"]["mean"] for row in patterns["rows"]]
    # Of the hundred of a tick those that the room and the server take are not lost; the others need no room to speak of.
    expect(modelled[:4] == [0, 0, 0, 0] and 30 < modelled[4] < 70, f"lost in the model: {modelled}")
    contains(flat(told.out), "What stays open is whether batches or a receiver without a processor", "the answer to the post")
    clients = [row["name"] for row in runs["rows"]]
    expect({"64 yield, run 1", "64 yield, run 2", "128 sleep, run 1", "128 sleep, run 2"} <= set(clients), f"runs: {clients}")
    for table in (runs, came):
        for row in table["rows"]:
            expect(row["cells"][0]["live"] > 0, f"{row['name']}: nothing was sent")
    for row in runs["rows"]:
        sent, lost_ones = (cell["live"] for cell in row["cells"][:2])
        expect(0 <= lost_ones <= sent, f"{row['name']}: {lost_ones} of {sent} lost")
    # What no draw has a part in is the published figure.
    for table, rounding in ((lost, 1e-4), (most, 0)):
        for row in table["rows"]:
            for cell in row["cells"] if "Poisson" not in row["name"] else []:
                expect(abs(cell["replications"]["mean"] - cell["published"]) <= rounding, f"{row['name']}: {cell}")


@check("lab: --short is for labs that run here; senders are hidden, and send to the loopback alone")
def short(tmp):
    contains(headway("lab", "brady", "--short", cwd=tmp).exits(2).err, "such labs: poisson-udp, overload", "message on --short")
    headway("lab", "--short", cwd=tmp).exits(2)
    expect("datagram-sender" not in headway("--help", cwd=tmp).exits(0).out, "the senders' verb is not hidden")
    contains(headway("datagram-sender", "192.0.2.1:9", "yields", "1", cwd=tmp).exits(1).err, "loopback", "message on a remote address")

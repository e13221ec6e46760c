"""`headway lab`: the published experiments run, print what they found, and give it as one document."""

import json

from harness import check, contains, equal, expect, headway


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
        equal({cell["replications"]["n"] for cell in cells if cell["replications"]}, {2}, f"{name}: replications")

#!/usr/bin/env python3
"""What a scenario from a large document costs: made-up OpenAPI documents and test plans of JMeter, ordinary ones and such as try to take all
memory. Each ends with a scenario, or with exit code 2; peak memory is below the bar either way.

    python3 bench/convert.py [FILE ...]        # FILE: OpenAPI documents or plans (.jmx) to measure besides
"""

import json
import multiprocessing
import os
import sys
import tempfile

import tools

BAR_MIB = 512


def openapi(n):
    """A document of 2 n operations and n schemas that refer to one another."""
    def schema(i):
        members = {"id": {"type": "integer", "example": i}, "name": {"type": "string", "description": "The name of it. " * 4},
                   "next": {"$ref": f"#/components/schemas/S{(i + 1) % n}"},
                   "list": {"type": "array", "items": {"$ref": f"#/components/schemas/S{i * 7 % n}"}}}
        return {"type": "object", "required": ["id", "name"], "properties": members}

    def path(i):
        body = {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/S{i}"}}}}
        return {"parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
                "get": {"description": "Gives one. " * 20, "responses": {"200": {"description": "It", **body}}},
                "put": {"requestBody": body, "responses": {"204": {"description": "Done"}}}}

    return document({f"/things{i}/{{id}}": path(i) for i in range(n)}, {f"S{i}": schema(i) for i in range(n)})


def document(paths, schemas):
    return json.dumps({"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "servers": [{"url": "http://127.0.0.1:8080"}],
                       "paths": paths, "components": {"schemas": schemas}}, indent=2)


def multiplying():
    """300 bodies of schemas that hold ten times the next, eight deep."""
    schemas = {f"S{i}": {"properties": {f"m{j}": {"$ref": f"#/components/schemas/S{i + 1}"} for j in range(10)}} for i in range(8)}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}
    return document({f"/p{i}": {"post": {"requestBody": body}} for i in range(300)}, schemas | {"S8": {"type": "string"}})


def plan(n):
    """A plan of n samplers, each with an argument, a header manager and an assertion."""
    sampler = """<HTTPSamplerProxy testname="get {i}"><stringProp name="HTTPSampler.path">/things/{i}</stringProp>
<elementProp name="HTTPsampler.Arguments"><collectionProp name="Arguments.arguments"><elementProp name="q"><stringProp name="Argument.name">q</stringProp>
<stringProp name="Argument.value">${{word}} {i}</stringProp></elementProp></collectionProp></elementProp></HTTPSamplerProxy>
<hashTree><HeaderManager testname="headers"><collectionProp name="HeaderManager.headers"><elementProp name=""><stringProp name="Header.name">X-Number</stringProp>
<stringProp name="Header.value">{i}</stringProp></elementProp></collectionProp></HeaderManager><hashTree/>
<ResponseAssertion testname="ok"><collectionProp name="Asserion.test_strings"><stringProp name="1">200</stringProp></collectionProp>
<stringProp name="Assertion.test_field">Assertion.response_code</stringProp><intProp name="Assertion.test_type">8</intProp></ResponseAssertion><hashTree/></hashTree>
"""
    return jmx("""<Arguments testname="u"><collectionProp name="Arguments.arguments"><elementProp name="word"><stringProp name="Argument.name">word</stringProp>
<stringProp name="Argument.value">tea</stringProp></elementProp></collectionProp></Arguments><hashTree/>""" + "".join(sampler.format(i=i) for i in range(n)))


def jmx(inside):
    return f"""<jmeterTestPlan><hashTree><TestPlan testname="T"/><hashTree><ConfigTestElement guiclass="HttpDefaultsGui" testname="d">
<stringProp name="HTTPSampler.domain">127.0.0.1</stringProp></ConfigTestElement><hashTree/><ThreadGroup testname="G">
<stringProp name="ThreadGroup.num_threads">1</stringProp></ThreadGroup><hashTree>{inside}</hashTree></hashTree></hashTree></jmeterTestPlan>"""


MADE = [
    ("10 MB, 10,000 operations", "json", lambda: openapi(5_000)),
    ("30 MB, too many operations", "json", lambda: openapi(16_000)),
    ("1,000,000 numbers", "json", lambda: document({}, {"x": [1] * 990_000})),
    ("too many mappings", "json", lambda: '{"openapi": "3.0.3", "x": [' + ",".join(['{"a":1}'] * 1_600_000) + "]}"),
    ("schemas that multiply", "json", multiplying),
    ("plan, 10,000 samplers", "jmx", lambda: plan(10_000)),
    ("plan, too many samplers", "jmx", lambda: plan(20_000)),
    ("plan, 990,000 elements", "jmx", lambda: jmx("<a/>" * 990_000)),
]


def write(files):
    for (_, _, make), (_, path) in zip(MADE, files):
        with open(path, "w") as f:
            f.write(make())


def main():
    rows, wrong = [], []
    with tempfile.TemporaryDirectory() as folder:
        files = [(name, os.path.join(folder, f"{i}.{kind}")) for i, (name, kind, _) in enumerate(MADE)]
        # A process that is begun counts the memory of its parent, which must stay small.
        maker = multiprocessing.Process(target=write, args=(files,))
        maker.start()
        maker.join()
        for name, path in files + [(os.path.basename(path), path) for path in sys.argv[1:]]:
            verb = ["from-jmx"] if path.endswith(".jmx") else ["from-openapi", "--all-methods"]
            out = os.path.join(folder, "out.yaml")
            used = tools.run([tools.HEADWAY, *verb, path, "-o", out], timeout=300)
            said = "a scenario"
            if used.code == 2:
                said = used.err.strip().splitlines()[-1].removeprefix("headway: ").replace(path, "FILE")[:110]
            elif used.code:
                wrong.append(f"{name}: exit {used.code}")
            if used.rss_kib / 1024 > BAR_MIB:
                wrong.append(f"{name}: {used.rss_kib / 1024:,.0f} MiB")
            rows.append([name, f"{os.path.getsize(path) / 1e6:.1f}", f"{used.cpu_s:.2f}", f"{used.rss_kib / 1024:,.0f}", said])
    print(f"## Scenarios from large documents (bar: {BAR_MIB} MiB)\n")
    tools.table(["document", "MB", "CPU s", "peak MiB", "comes to"], rows)
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Reads a log with pyarrow, as a user would, and checks that it holds what Headway's words promise.

    read_log.py LOG EXPECTED_ROWS [--truncated]

Prints the schema and the number of rows. Exits 1 with every violation on a line of its own if a column is missing or
of another type, a null stands where none may be, the rows are not as many as expected, or a request was, say,
answered before it was sent. With --truncated the log may lack its end: it is read to its last complete batch, and
EXPECTED_ROWS counts those.
"""

import argparse
import pathlib
import sys

import pyarrow as pa
import pyarrow.compute as pc

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "packaging/python"))
from headway._run import records

WORD = pa.dictionary(pa.int8(), pa.string())
# Name: type, whether null may stand in it.
COLUMNS = {
    "k": (pa.uint64(), False),
    "kind": (WORD, False),
    "outcome": (WORD, False),
    "intended_ns": (pa.int64(), False),
    "started_ns": (pa.int64(), True),
    "sent_ns": (pa.int64(), True),
    "first_byte_ns": (pa.int64(), True),
    "done_ns": (pa.int64(), False),
    "wait_ns": (pa.int64(), False),
    "connect_ns": (pa.int64(), True),
    "tls_ns": (pa.int64(), True),
    "bytes_received": (pa.uint64(), False),
    "bytes_sent": (pa.uint64(), False),
    "count": (pa.uint32(), False),
    "user": (pa.uint32(), True),
    "repeat": (pa.uint32(), False),
    "connection": (pa.uint32(), True),
    "step": (pa.uint16(), False),
    "attempt": (pa.uint16(), False),
    "shard": (pa.uint16(), False),
    "status": (pa.uint16(), True),
    "reused": (pa.bool_(), False),
    "due": (WORD, True),
    "arrived_ns": (pa.int64(), True),
    "group": (pa.uint16(), True),
    "unread_ns": (pa.int64(), True),
    # With --connecting only.
    "stood_still_ns": (pa.int64(), True),
    # With --traceparent only.
    "trace_id": (pa.string(), True),
}
OUTCOMES = set(
    "ok status check protocol too-large timeout connect-timeout refused reset dns tls local-limit shed cancelled "
    "unfinished unsent".split()
)
KINDS = {"request", "session", "attempt"}
DUES = {"arrival", "step", "user"}
# The later stamp, the earlier one: where both are there, in this order.
ORDER = [
    ("started_ns", "intended_ns"),
    ("sent_ns", "started_ns"),
    ("first_byte_ns", "sent_ns"),
    ("done_ns", "first_byte_ns"),
    ("done_ns", "sent_ns"),
    ("done_ns", "started_ns"),
    ("done_ns", "intended_ns"),
]


def violations(table, expected_rows):
    schema = table.schema
    version = (schema.metadata or {}).get(b"headway.schema", b"").decode()
    if version.split(".")[:2] != ["headway", "records/1"]:
        yield f"headway.schema is {version!r}, expected 'headway.records/1'"
    for name, (kind, nullable) in COLUMNS.items():
        at = schema.get_field_index(name)
        if at < 0:
            if not nullable:
                yield f"column {name} is missing"
            continue
        field = schema.field(at)
        if field.type != kind:
            yield f"column {name} is {field.type}, expected {kind}"
        if field.nullable != nullable:
            yield f"column {name} is nullable={field.nullable}, expected {nullable}"
        nulls = table[name].null_count
        if nulls and not nullable:
            yield f"column {name} has {nulls} nulls"
    if table.num_rows != expected_rows:
        yield f"{table.num_rows} rows, expected {expected_rows}"


def broken_promises(table):
    def count(mask):
        return pc.sum(pc.fill_null(mask, False)).as_py() or 0

    def words(name):
        return pc.cast(table[name], pa.string())

    for later, earlier in ORDER:
        wrong = count(pc.less(table[later], table[earlier]))
        if wrong:
            yield f"{wrong} rows with {later} before {earlier}"
    for name, known in [("outcome", OUTCOMES), ("kind", KINDS), ("due", DUES)]:
        unknown = set(pc.unique(words(name)).to_pylist()) - known
        if unknown:
            yield f"unknown words in {name}: {sorted(unknown)}"
    outcome = words("outcome")
    answered = pc.is_in(outcome, pa.array(["ok", "status", "check"]))
    never_started = pc.is_in(outcome, pa.array(["shed", "unsent"]))
    request = pc.equal(words("kind"), "request")
    rules = [
        ("answered without a first byte", pc.and_(pc.and_(request, answered), pc.is_null(table["first_byte_ns"]))),
        ("shed or unsent, and yet started", pc.and_(never_started, pc.is_valid(table["started_ns"]))),
        ("sent and never started", pc.and_(pc.is_valid(table["sent_ns"]), pc.is_null(table["started_ns"]))),
        ("first byte of nothing sent", pc.and_(pc.is_valid(table["first_byte_ns"]), pc.is_null(table["sent_ns"]))),
        ("a negative wait", pc.less(table["wait_ns"], 0)),
        ("a negative connect", pc.less(table["connect_ns"], 0)),
        ("a negative TLS handshake", pc.less(table["tls_ns"], 0)),
        *([("sent without its trace", pc.and_(pc.is_valid(table["sent_ns"]), pc.is_null(table["trace_id"])))] if "trace_id" in table.column_names else []),
        ("a count of 0", pc.equal(table["count"], 0)),
        ("several arrivals in one row that started", pc.and_(pc.greater(table["count"], 1), pc.is_valid(table["started_ns"]))),
    ]
    for text, mask in rules:
        wrong = count(mask)
        if wrong:
            yield f"{wrong} rows: {text}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log")
    parser.add_argument("expected_rows", type=int)
    parser.add_argument("--truncated", action="store_true", help="the log may lack its end")
    options = parser.parse_args()

    table, complete = records(options.log)
    print(table.schema.to_string(show_schema_metadata=True))
    nulls = {name: table[name].null_count for name in table.column_names if table[name].null_count}
    print(f"{table.num_rows} rows in {len(table.to_batches())} batches; nulls: {nulls}")

    found = list(violations(table, options.expected_rows))
    if not complete and not options.truncated:
        found.append("no end mark")
    # Only over columns that are as they should be: the promises are checked cell by cell.
    if not found:
        found = list(broken_promises(table))
    for line in found:
        print(f"VIOLATION: {line}", file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()

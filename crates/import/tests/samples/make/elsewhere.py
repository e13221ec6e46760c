#!/usr/bin/env python3
"""Makes refused/pcap.pcap, refused/har.har and refused/phout.tsv, files that something else reads: each as its format's description has
it (libpcap 2.4, HAR 1.2, the columns of phout), by hand, with the first rows of json-log/caddy.json."""
import datetime
import json
import pathlib
import struct

samples = pathlib.Path(__file__).resolve().parent.parent
rows = [json.loads(line) for line in open(samples / "json-log/caddy.json")][:20]
folder = samples / "refused"

with open(folder / "pcap.pcap", "wb") as out:
    out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
    for row in rows:
        packet = bytes(14) + row["request"]["uri"].encode()
        seconds, part = divmod(round(row["ts"] * 1e6), 1_000_000)
        out.write(struct.pack("<IIII", seconds, part, len(packet), len(packet)) + packet)

entries = []
for row in rows:
    start = datetime.datetime.fromtimestamp(row["ts"] - row["duration"], datetime.timezone.utc)
    took = row["duration"] * 1000
    request = {"method": row["request"]["method"], "url": "http://127.0.0.1" + row["request"]["uri"], "headers": []}
    response = {"status": row["status"], "headers": [], "content": {"size": row["size"], "mimeType": "text/plain"}}
    timings = {"send": 0, "wait": took, "receive": 0}
    at = start.isoformat(timespec="milliseconds")
    entries.append({"startedDateTime": at, "time": took, "request": request, "response": response, "timings": timings})
har = {"log": {"version": "1.2", "creator": {"name": "by hand", "version": "1"}, "entries": entries}}
(folder / "har.har").write_text(json.dumps(har, indent=2) + "\n")

with open(folder / "phout.tsv", "w") as out:
    for row in rows:
        took = round(row["duration"] * 1e6)
        start = row["ts"] - row["duration"]
        print(f"{start:.3f}", "", took, 0, 20, took - 40, 20, took, 90, row["size"], 0, row["status"], sep="\t", file=out)

#!/usr/bin/env python3
"""Makes alb-log/alb.log: the rows of json-log/caddy.json as an Application Load Balancer of AWS, which does not run here, writes them.
Its documentation says how: the time at which the response was generated to the microsecond, the time at which the request was received
to the millisecond, both in UTC, 29 fields with blanks between them, texts in quotes with a quote in them as \\x22, -1 for times and a dash
for a status that there are none of."""
import datetime
import json
import pathlib

samples = pathlib.Path(__file__).resolve().parent.parent
rows = [json.loads(line) for line in open(samples / "json-log/caddy.json")]
folder = samples / "alb-log"
folder.mkdir(exist_ok=True)


def utc(at):
    return datetime.datetime.fromtimestamp(at, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


with open(folder / "alb.log", "w") as out:
    for i, row in enumerate(rows):
        received = int((row["ts"] - row["duration"]) * 1000) / 1000
        request = f'"{row["request"]["method"]} http://shop.example:80{row["request"]["uri"]} {row["request"]["proto"]}"'
        quoted = row["request"]["headers"]["User-Agent"][0].replace('"', "\\x22")
        agent = f'"{quoted}"'
        # 460: the client closed the connection before its answer.
        answered = row["status"] > 0
        statuses = [row["status"], row["status"]] if answered else [460, "-"]
        times = [f"{t:.3f}" for t in (0, row["duration"], 0)] if answered else ["0.000", "0.000", "-1"]
        fields = [
            "http", utc(row["ts"]), "app/shop/50dc6c495c0c9188", f"192.0.2.{i % 200}:2817", "10.0.0.1:80", *times, *statuses, 90,
            row["size"] + 150, request, agent, "-", "-",
            "arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/shop/73e2d6bc24d8a067", f'"Root=1-{i:08x}"', '"-"', '"-"',
            0, utc(received), '"forward"', '"-"', '"-"', '"10.0.0.1:80"', f'"{statuses[1]}"', '"-"', '"-"',
        ]
        print(*fields, file=out)

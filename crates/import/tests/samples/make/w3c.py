#!/usr/bin/env python3
"""Makes w3c-log/iis.log and w3c-log/cloudfront.log: the rows of json-log/caddy.json in the columns of IIS and of CloudFront, which do not
run here. Their documentation says how each writes them: ends in whole seconds of UTC, IIS the time taken in whole milliseconds,
CloudFront in seconds."""
import datetime
import json
import pathlib

samples = pathlib.Path(__file__).resolve().parent.parent
rows = [json.loads(line) for line in open(samples / "json-log/caddy.json")]
folder = samples / "w3c-log"
folder.mkdir(exist_ok=True)


def parts(row):
    end = datetime.datetime.fromtimestamp(int(row["ts"]), datetime.timezone.utc)
    path, _, query = row["request"]["uri"].partition("?")
    return f"{end:%Y-%m-%d}", f"{end:%H:%M:%S}", row["request"]["method"], path, query or "-"


with open(folder / "iis.log", "w", newline="\r\n") as out:
    print("#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0", file=out)
    print("#Date: " + " ".join(parts(rows[0])[:2]), file=out)
    print(
        "#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status "
        "sc-substatus sc-win32-status time-taken",
        file=out,
    )
    for row in rows:
        date, time, method, path, query = parts(row)
        agent = row["request"]["headers"]["User-Agent"][0].replace(" ", "+")
        status = row["status"] or 500
        taken = round(row["duration"] * 1000)
        print(date, time, "127.0.0.1", method, path, query, 80, "-", "127.0.0.1", agent, "-", status, 0, 0, taken, file=out)

with open(folder / "cloudfront.log", "w") as out:
    print("#Version: 1.0", file=out)
    print(
        "#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs-uri-query cs-bytes time-taken",
        file=out,
    )
    for row in rows:
        date, time, method, path, query = parts(row)
        status = f"{row['status']:03}"
        taken = f"{row['duration']:.3f}"
        fields = (date, time, "FRA56-P1", row["size"] + 150, "127.0.0.1", method, "d1.example", path, status, query, 90, taken)
        print(*fields, sep="\t", file=out)

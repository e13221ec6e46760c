"""Names that are read again: /etc/hosts of a namespace of its own, rewritten while the run goes on."""

import shutil
import subprocess
from collections import Counter

from harness import Nginx, all_ended, check, contains, equal, expect, finding, flat, free_port, run, start_run

LOAD = ["-R", "40", "--arrivals", "constant"]


class Names:
    """Three addresses of this machine at which nginx answers, and a name that leads to some of them."""

    def __init__(self, tmp):
        self.hosts, self.port, self.access = tmp / "hosts", free_port(), tmp / "access.log"
        resolver = tmp / "resolv.conf"
        resolver.write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
        self.lead_to(1)
        listen = " ".join(f"listen 127.0.0.{n}:{self.port};" for n in (1, 2, 3))
        self.nginx = Nginx(
            tmp, f"log_format seen '$server_addr'; access_log {self.access} seen; server {{ {listen} location / {{ return 200 \"fine\\n\"; }} }}"
        )
        mounts = f'mount --bind {self.hosts} /etc/hosts && mount --bind {resolver} /etc/resolv.conf && exec "$@"'
        self.wrap = ["unshare", "--mount", "sh", "-c", mounts, "sh"]
        self.url = f"http://bars.test:{self.port}/"

    def lead_to(self, *hosts):
        # In place: the mount is of this file.
        self.hosts.write_text("".join(f"127.0.0.{n} bars.test\n" for n in hosts))

    def seen(self):
        return Counter(f"{address}:{self.port}" for address in self.access.read_text().split())

    def works(self):
        return shutil.which("unshare") and subprocess.run([*self.wrap, "true"], capture_output=True, check=False).returncode == 0

    def __enter__(self):
        self.nginx.__enter__()
        return self

    def __exit__(self, *error):
        return self.nginx.__exit__(*error)


@check("names: --dns-refresh goes to the addresses of a name in turn, to new ones once they are read, to the old ones while it does not resolve")
def refreshed(tmp):
    with Names(tmp) as names:
        if not names.works():
            return
        at = [f"127.0.0.{n}:{names.port}" for n in (1, 2, 3)]
        names.lead_to(1, 2)
        going = start_run(names.url, *LOAD, "-d", "6s", "--new-connections", "--dns-refresh", "1s", tmp=tmp, wrap=names.wrap)
        going.sleep_until(2.3)
        names.lead_to(3)
        going.sleep_until(4.3)
        names.lead_to()
        ended = going.ended()
        summary = all_ended(ended, "ok")
        seen, told = names.seen(), summary["generator"]["names"]
        equal(told["connections"], dict(seen), "connections by address, and requests that nginx saw there")
        expect(abs(seen[at[0]] - seen[at[1]]) <= 1 and seen[at[0]] >= 40, f"not in turn: {seen}")
        expect(seen[at[2]] >= 80, f"not to the new address: {seen}")
        expect(told["readings"] >= 4 and told["changed"] == 1 and 1 <= told["failed"] < told["readings"], f"{told}")
        equal(summary["plan"]["dns_refresh_s"], 1.0, "what was asked for")
        said = finding(summary, "names-not-read")
        contains(said["text"], "Connections went on to the addresses that were known", "the finding")
        contains((ended.folder / "report.html").read_text(), "names read again", "report.html")

        names.access.write_text("")
        names.lead_to(1, 2)
        summary = all_ended(run(names.url, *LOAD, "-d", "1s", "--new-connections", tmp=tmp, name="once", wrap=names.wrap), "ok")
        equal(set(names.seen()), {at[0]}, "addresses without --dns-refresh")
        expect("names" not in summary["generator"], "names of a run that read its name once")

        (tmp / "s.yaml").write_text(f"target: {names.url}\ndns-refresh: 1s\nusers: {{ work: {{ requests: 8, users: 4 }} }}\njourney: [ {{ get: / }} ]\n")
        names.access.write_text("")
        all_ended(run(tmp / "s.yaml", tmp=tmp, name="file", wrap=names.wrap), "ok")
        equal(set(names.seen()), {at[0], at[1]}, "addresses of four users of a file")


@check("names: what --dns-refresh cannot be is refused with exit code 2")
def usage(tmp):
    for name, arguments, parts in [
        ("short", ["http://127.0.0.1:9/", "--dns-refresh", "100ms"], ["--dns-refresh", "is a load on its resolver", "at least 1s"]),
        ("unix", ["unix:/run/x.sock", "--dns-refresh", "5s"], ["--dns-refresh", "a Unix socket has no host"]),
        ("connecting", ["http://127.0.0.1:9/", "--dns-refresh", "5s", "--connecting", "5"], ["--dns-refresh", "may come to lead elsewhere"]),
        ("unit", ["http://127.0.0.1:9/", "--dns-refresh", "5"], ["--dns-refresh"]),
    ]:
        load = ["-d", "1s"] if name == "connecting" else [*LOAD, "-d", "1s"]
        ended = run(*arguments, *load, tmp=tmp, name=name).exits(2)
        for part in parts:
            contains(flat(ended.err), part, f"{name}: stderr")

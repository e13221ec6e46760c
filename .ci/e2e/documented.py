"""Pages that are run: every `console` block of a page, in order, in a folder and a network of its own.

    documented.py PAGE...     prints what the commands of these pages print, to be shown there

`$ ` begins a command, `> ` goes on with it, and what follows is what it printed: each line shown has to be printed, in that order; `...` stands for
any lines, and numbers may be others. A command that ends with `&` goes on until the page ends.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MARK = "@@headway-docs@@"
# What it takes a target to listen.
LISTENS_S = 0.7


def blocks(text):
    """The lines of the console blocks of a page."""
    inside = False
    for line in text.splitlines():
        if line.startswith("```"):
            inside = line.strip() == "```console"
        elif inside:
            yield line


def steps(text):
    """Each command of a page with the lines that are shown of it."""
    found = []
    for line in blocks(text):
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.startswith("> ") or line == ">":
            command, shown = found.pop()
            found.append((f"{command}\n{line[2:]}", shown))
        else:
            found[-1][1].append(line)
    return found


def script(commands):
    parts = ["ip link set lo up 2>/dev/null"]
    for command in commands:
        parts.append(f"echo '{MARK}'")
        if command.rstrip().endswith("&"):
            parts.append(f"{{\n{command.rstrip()[:-1]}\n}} >/dev/null 2>&1 &\nsleep {LISTENS_S}")
        else:
            parts.append(f"{{\n{command}\n}} 2>&1")
    return "\n".join(parts) + "\n"


def printed(binary, commands, folder, timeout=300):
    """What each of the commands prints, run one after the other."""
    tools = pathlib.Path(folder) / "bin"
    tools.mkdir()
    (tools / "headway").symlink_to(binary)
    work = pathlib.Path(folder) / "work"
    work.mkdir()
    env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(work), "COLUMNS": "80"}
    process = subprocess.Popen(
        ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--net", "--pid", "--fork", "--kill-child", "bash", "-c", script(commands)], cwd=work, env=env, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    try:
        out, _ = process.communicate(timeout=timeout)
    finally:
        process.kill()
    return out.split(f"{MARK}\n")[1:]


NUMBER = re.compile(r"[-+]{0,2}[0-9][0-9.,T]*(?: ?(?:ns|us|ms|s|min|h|%|B|KiB|MiB|GiB)\b)?")


def plain(line):
    """A line without its numbers and their units, without marks, and with single spaces; of the load only that it is judged."""
    words = NUMBER.sub("#", re.sub(r"[*!><^]", " ", line)).split()
    return "LOAD" if words[:1] == ["LOAD"] else " ".join(words)


def missing(shown, out):
    """The first line shown that was not printed where it should have been; none if all were."""
    lines = [plain(line) for line in out.splitlines()]
    at = 0
    for line in shown:
        if line.strip() in ("...", ""):
            continue
        try:
            at = lines.index(plain(line), at) + 1
        except ValueError:
            return line
    return None


def page(binary, path, folder):
    """What does not hold of a page, a line each."""
    all_steps = steps(path.read_text())
    outs = printed(binary, [command for command, _ in all_steps], folder)
    found = []
    if len(outs) < len(all_steps):
        found.append(f"{path}: it ended after {len(outs)} of {len(all_steps)} commands: {outs[-1:]}")
    for (command, shown), out in zip(all_steps, outs):
        line = missing(shown, out)
        if line is not None:
            found.append(f"{path}: {command.splitlines()[0]}\n  shows: {line}\n  and printed:\n{out}")
    return found


def main():
    binary = os.path.abspath(os.environ.get("HEADWAY", "target/release/headway"))
    for name in sys.argv[1:]:
        folder = tempfile.mkdtemp(prefix="headway-docs-")
        all_steps = steps(pathlib.Path(name).read_text())
        for (command, _), out in zip(all_steps, printed(binary, [command for command, _ in all_steps], folder)):
            print(f"$ {command}\n{out}", end="")
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()

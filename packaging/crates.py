"""The crates that the binary with all features is made of, by Cargo.lock; what only builds or tests it is left out."""

import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = "headway-cli"


class Crates:
    """`packages` (as cargo metadata has them) of the binary for a platform, by name and version, ours among them; `ours`; `needs` of each."""

    def __init__(self, platform="x86_64-unknown-linux-gnu"):
        command = ["cargo", "metadata", "--format-version=1", "--locked", "--all-features"]
        command += ["--filter-platform", platform, "--manifest-path", str(ROOT / "Cargo.toml")]
        metadata = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        known = {package["id"]: package for package in metadata["packages"]}
        nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
        self.ours = set(metadata["workspace_members"])
        self.root = next(id for id in self.ours if known[id]["name"] == BINARY)
        self.needs = {}
        todo = [self.root]
        while todo:
            id = todo.pop()
            if id not in self.needs:
                self.needs[id] = sorted({dep["pkg"] for dep in nodes[id]["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])})
                todo += self.needs[id]
        self.packages = sorted((known[id] for id in self.needs), key=lambda package: (package["name"], package["version"]))

    def of_others(self):
        return [package for package in self.packages if package["id"] not in self.ours]

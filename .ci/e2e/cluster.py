"""A cluster on this machine, for nightly_cluster: network namespaces as hosts, joined by a bridge in one more, the hub; Slurm on them, and sshd. Nothing of it is seen from outside of the namespaces."""

import contextlib
import os
import pathlib
import re
import shutil
import socket
import subprocess
import typing

from harness import HEADWAY, Failed, Headway, Skipped, environment, expect, spawn, stop, tool, wait_for

NODES = 3
# Of the hub, where target, controller and store are.
HUB = "10.203.77.1"
# Slurm gives up a node that it has not heard of for so long.
NODE_TIMEOUT_S = 5


def ip(*words):
    return tool("ip", *words)


class Hosts:
    """The hub and the nodes, as namespaces; a node's name is that of its namespace."""

    def __init__(self):
        if os.geteuid() != 0 or subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode != 0:
            raise Skipped("this user may not make network namespaces")
        prefix = f"hwc{os.getpid() % 100000}"
        self.hub, self.nodes = f"{prefix}h", [f"{prefix}n{i}" for i in range(NODES)]

    def __enter__(self):
        self.made = []
        try:
            for name in (self.hub, *self.nodes):
                ip("netns", "add", name)
                self.made.append(name)
                ip("-n", name, "link", "set", "lo", "up")
            ip("-n", self.hub, "link", "add", "bridge", "type", "bridge")
            ip("-n", self.hub, "addr", "add", f"{HUB}/24", "dev", "bridge")
            ip("-n", self.hub, "link", "set", "bridge", "up")
            for i, node in enumerate(self.nodes):
                ip("link", "add", "uplink", "netns", node, "type", "veth", "peer", "name", f"port{i}", "netns", self.hub)
                ip("-n", self.hub, "link", "set", f"port{i}", "master", "bridge", "up")
                ip("-n", node, "addr", "add", f"{self.address(i)}/24", "dev", "uplink")
                ip("-n", node, "link", "set", "uplink", "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in self.made:
            # What was started there by others than this process would outlive it.
            with contextlib.suppress(Failed):
                self.end(name)
            subprocess.run(["ip", "netns", "del", name], check=False)
        return False

    def address(self, i):
        return f"10.203.77.{10 + i}"

    def inside(self, name, *command):
        return ["nsenter", f"--net=/run/netns/{name}", *map(str, command)]

    def end(self, name):
        """Kills every process of that host, as a power cut does."""
        # Twice: what forks at that moment is gone then.
        for pid in (pid for _ in range(2) for pid in tool("ip", "netns", "pids", name).split()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), 9)

    def cut(self, i):
        """The node hears and says no more, and goes on."""
        ip("-n", self.hub, "link", "set", f"port{i}", "down")

    def heal(self, i):
        ip("-n", self.hub, "link", "set", f"port{i}", "up")


class Task(typing.NamedTuple):
    """Part of a job of Slurm: its state, its exit code, and the node that it ran on."""

    state: str
    code: int
    node: str


class Slurm:
    """A controller in the hub and a node in each namespace, without authentication, for nobody else reaches them. `spread` tasks with two
    processors each fit on a node."""

    def __init__(self, hosts, tmp, spread):
        self.hosts, self.tmp, self.folder = hosts, tmp, tmp / "slurm"
        self.folder.mkdir()
        name = socket.gethostname().split(".")[0]
        nodes = "\n".join(
            f"NodeName=n{i} NodeHostname={name} NodeAddr={hosts.address(i)} Port=17000 CPUs={2 * spread} State=UNKNOWN" for i in range(NODES)
        )
        (self.folder / "slurm.conf").write_text(
            f"""
            ClusterName=headway
            SlurmctldHost={name}({HUB})
            AuthType=auth/none
            CredType=cred/none
            SlurmUser=root
            SlurmdUser=root
            StateSaveLocation={self.folder}/state
            SlurmdSpoolDir={self.folder}/spool-%n
            SlurmctldPidFile={self.folder}/slurmctld.pid
            SlurmdPidFile={self.folder}/slurmd-%n.pid
            ProctrackType=proctrack/linuxproc
            TaskPlugin=task/none
            SwitchType=switch/none
            MpiDefault=none
            MailProg=/bin/true
            JobAcctGatherType=jobacct_gather/none
            SelectType=select/cons_tres
            SelectTypeParameters=CR_CPU
            SlurmdParameters=config_overrides
            SlurmdTimeout={NODE_TIMEOUT_S}
            MessageTimeout=3
            KillWait=2
            ReturnToService=2
            {nodes}
            PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
            """.replace("\n            ", "\n")
        )
        self.env = environment(SLURM_CONF=self.folder / "slurm.conf", HEADWAY=HEADWAY)

    def _daemon(self, where, name, *command):
        # They lie where only root's PATH looks.
        program = shutil.which(command[0], path=os.environ.get("PATH", "") + ":/usr/sbin")
        expect(program, f"{command[0]} is not installed")
        with open(self.folder / f"{name}.log", "wb") as log:
            return spawn(self.hosts.inside(where, program, *command[1:]), stdout=log, stderr=log, env=self.env)

    def __enter__(self):
        self.daemons = [self._daemon(self.hosts.hub, "slurmctld", "slurmctld", "-D", "-c")]
        for i, node in enumerate(self.hosts.nodes):
            self.daemons.append(self._daemon(node, f"slurmd-{i}", "slurmd", "-D", "-N", f"n{i}"))
        try:
            wait_for(lambda: self.states() == {f"n{i}": "idle" for i in range(NODES)}, "the nodes of Slurm to be idle", 60)
        except Exception as error:
            said = "\n".join(log.read_text()[-600:] for log in self.folder.glob("*.log"))
            raise type(error)(f"{error}\n{said}") from None
        return self

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            stop(daemon, 5)
        return False

    def _run(self, *command, **env):
        command = self.hosts.inside(self.hosts.hub, *command)
        return subprocess.run(command, capture_output=True, text=True, timeout=300, env={**self.env, **env}, cwd=self.tmp)

    def states(self):
        """What the controller says of each node."""
        listed = self._run("sinfo", "--noheader", "--Node", "--format=%N %T").stdout
        return dict(line.split() for line in listed.splitlines())

    def submit(self, *arguments, **env):
        """`sbatch` with these arguments: the number of the job."""
        done = self._run("sbatch", "--parsable", *arguments, **env)
        expect(done.returncode == 0, f"sbatch exits {done.returncode}: {done.stderr}")
        return done.stdout.strip()

    def tasks(self, job):
        """Of an array, by index; of any other job, one with the index 0."""
        shown = self._run("scontrol", "--oneliner", "show", "job", job).stdout
        tasks = {}
        for line in shown.splitlines():
            said = dict(re.findall(r"(\w+)=(\S*)", line))
            code = int(said["ExitCode"].split(":")[0])
            index = said.get("ArrayTaskId", "0")
            # Those that wait are one line, as in 3-7.
            tasks[int(index) if index.isdigit() else index] = Task(said["JobState"], code, said.get("NodeList"))
        return tasks

    def ended(self, job, patience):
        """Its tasks, when they have ended one way or the other."""

        def over():
            tasks = self.tasks(job)
            going = [task for task in tasks.values() if task.state in ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING")]
            return None if going else tasks

        return wait_for(over, f"job {job} of Slurm", patience)


@contextlib.contextmanager
def serving(hosts, tmp, *flags):
    """`headway serve` in the hub: its URL, and the file of what it received."""
    log = tmp / "arrivals.csv"
    command = ["serve", "--listen", f"{HUB}:8080", "--arrivals-log", log, *flags]
    target = Headway(command, tmp, wrap=hosts.inside(hosts.hub))
    wait_for(lambda: "serving at" in target.text(target.err) or target.process.poll() is not None, "serve to listen")
    try:
        yield f"http://{HUB}:8080/", log
    finally:
        # Its log is complete when it has ended.
        stop(target.process, 20)


class Sshd:
    """A server of ssh on each node; `env` has the program `ssh` that reaches them from the hub, as n0, n1 and so on, without a password."""

    def __init__(self, hosts, tmp):
        self.hosts, self.folder = hosts, tmp / "ssh"
        self.folder.mkdir()
        # The program lies where only root's PATH looks; it wants to be called by its full path.
        self.program = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin")
        expect(self.program, "sshd is not installed")

    def __enter__(self):
        for name in ("host", "user"):
            tool("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name)
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        options = {
            "HostKey": self.folder / "host", "AuthorizedKeysFile": self.folder / "user.pub", "StrictModes": "no", "PidFile": "none", "UsePAM": "no",
        }
        self.daemons = []
        for i, node in enumerate(self.hosts.nodes):
            command = [self.program, "-D", "-e", "-f", "/dev/null", *(word for pair in options.items() for word in ("-o", "=".join(map(str, pair))))]
            with open(self.folder / f"sshd-{i}.log", "wb") as log:
                self.daemons.append(spawn(self.hosts.inside(node, *command), stdout=log, stderr=log))
        (self.folder / "known").write_text("".join(f"{self.hosts.address(i)} {(self.folder / 'host.pub').read_text()}" for i in range(NODES)))
        (self.folder / "config").write_text(
            "".join(f"Host n{i}\nHostName {self.hosts.address(i)}\n" for i in range(NODES))
            + f"Host *\nUser root\nIdentityFile {self.folder}/user\nUserKnownHostsFile {self.folder}/known\n"
        )
        program = self.folder / "bin/ssh"
        program.parent.mkdir()
        inside = " ".join(self.hosts.inside(self.hosts.hub, shutil.which("ssh"), "-F", self.folder / "config"))
        program.write_text(f'#!/bin/sh\nexec {inside} "$@"\n')
        program.chmod(0o755)
        self.env = environment(PATH=f"{program.parent}:{os.environ['PATH']}", HEADWAY=HEADWAY)
        try:
            for i in range(NODES):
                wait_for(lambda: subprocess.run([program, f"n{i}", "true"], capture_output=True, stdin=subprocess.DEVNULL).returncode == 0, "sshd", 30)
        except Exception as error:
            raise type(error)(f"{error}: {[log.read_text()[-500:] for log in self.folder.glob('*.log')]}") from None
        return self

    def __exit__(self, *_):
        for daemon in self.daemons:
            stop(daemon, 5)
        return False

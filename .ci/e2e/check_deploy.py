"""`deploy/`: manifests of Kubernetes against the API's own schema, scripts of Slurm and ssh by what they start. No cluster is needed;
.ci/cluster runs the scripts on real ones."""

import copy
import json
import os
import re
import shutil
import subprocess

import yaml

from harness import ROOT, Headway, Serve, check, contains, environment, equal, expect, headway, never_started, planned, tool

DEPLOY = ROOT / "deploy"
VARIABLES = {"NAME": "run42", "SHARDS": "8", "IMAGE": "registry.test/headway:1", "CLAIM": "results", "OUT": "/shared/run42", "DEADLINE": "1800"}
# The first in which backoffLimitPerIndex is on by default, the one that made it stable, and the newest that the package knows.
KUBERNETES = ["1.29", "1.33", "1.37"]


def rendered(name, variables=None, sed=""):
    """A manifest as the docs render it; with a bucket they put it through sed."""
    text = tool("sed", sed, DEPLOY / "kubernetes" / name)
    variables = VARIABLES if variables is None else variables
    equal(set(re.findall(r"\$\{?(\w+)", text)) - set(variables), set(), f"variables of {name} that nobody sets")
    done = subprocess.run(["envsubst"], input=text, capture_output=True, text=True, env=environment(**variables), check=True)
    documents = [document for document in yaml.safe_load_all(done.stdout) if document]
    equal(len(documents), 1, f"documents in {name}")
    return documents[0]


def at(document, path):
    for key in path:
        document = document[key]
    return document


def pod(job):
    return job["spec"]["template"]["spec"]


def refused(job, change, what):
    """The schema does not take the manifest after that change."""
    import kubernetes_validate

    wrong = copy.deepcopy(job)
    change(wrong)
    try:
        kubernetes_validate.validate(wrong, KUBERNETES[-1], strict=True)
    except kubernetes_validate.ValidationError:
        return
    expect(False, f"the schema takes {what}")


@check("deploy: the manifests of Kubernetes, rendered, are what the schema of the API takes, and it refuses a key or a type that is wrong")
def schema(_):
    import kubernetes_validate

    for name in ("job.yaml", "merge.yaml"):
        job = rendered(name)
        for version in KUBERNETES:
            kubernetes_validate.validate(job, version, strict=True)
        refused(job, lambda job: job["spec"].update(backoffLimitPerIndx=0), "a key that is not there")
        refused(job, lambda job: job["spec"].update(activeDeadlineSeconds="1800"), "text for a number")
        refused(job, lambda job: pod(job)["containers"][0].update(args="merge"), "text for a list")
        refused(job, lambda job: pod(job).pop("containers"), "a pod without containers")
    # A variable that is not set leaves a hole that the API refuses, or a name that no object can have.
    for name in ("SHARDS", "DEADLINE"):
        job = rendered("job.yaml", {**VARIABLES, name: ""})
        expect(job["spec"]["completions" if name == "SHARDS" else "activeDeadlineSeconds"] is None, f"{name} is not set: {job['spec']}")


@check("deploy: with a bucket, as the docs render it, the manifests are what the schema takes, mount no shared volume, and hold no credential")
def bucket(_):
    import kubernetes_validate

    script, = re.findall(r"\| sed '([^']*)' \|", (ROOT / "docs/scale.md").read_text())
    variables = {name: value for name, value in VARIABLES.items() if name != "CLAIM"} | {"OUT": "s3://load-tests/run42"}
    for name in ("job.yaml", "merge.yaml"):
        each = rendered(name, variables, script)
        kubernetes_validate.validate(each, KUBERNETES[-1], strict=True)
        expect("/shared" not in json.dumps(each) and "s3://load-tests/run42" in json.dumps(each), f"{name}: {each}")
        container, = pod(each)["containers"]
        equal({mount["name"] for mount in container["volumeMounts"]}, {volume["name"] for volume in pod(each)["volumes"]}, "volumes")
        equal(container["envFrom"], [{"secretRef": {"name": "run42", "optional": True}}], "where credentials come from")
        expect("AWS_" not in json.dumps(each), f"{name}: {each}")


@check("deploy: the Job replays no shard, has a deadline, limits memory alone, and has no rights; both Jobs agree")
def job(_):
    shards, merge = rendered("job.yaml"), rendered("merge.yaml")
    spec, pods = shards["spec"], pod(shards)
    wanted = {
        "completionMode": "Indexed", "completions": 8, "parallelism": 8, "backoffLimitPerIndex": 0, "maxFailedIndexes": 8,
        "activeDeadlineSeconds": 1800,
    }
    equal({key: spec[key] for key in wanted}, wanted, "the Job")
    spread, = pods["topologySpreadConstraints"]
    # The label that Kubernetes gives to the pods of a Job.
    equal(spread["labelSelector"]["matchLabels"], {"batch.kubernetes.io/job-name": shards["metadata"]["name"]}, "the pods that are spread")
    equal(merge["spec"]["backoffLimit"], 0, "tries of the merge")
    for each in (shards, merge):
        container, = pod(each)["containers"]
        equal(pod(each)["restartPolicy"], "Never", "restarts")
        equal([pod(each)[key] for key in ("automountServiceAccountToken", "enableServiceLinks")], [False, False], "what pods are given")
        limits = container["resources"]["limits"]
        equal(list(limits), ["memory"], "limits")
        equal(container["resources"]["requests"]["memory"], limits["memory"], "memory asked for")
        equal(pod(each)["securityContext"]["runAsNonRoot"], True, "the user")
        locked = container["securityContext"]
        equal((locked["readOnlyRootFilesystem"], locked["allowPrivilegeEscalation"], locked["capabilities"]), (True, False, {"drop": ["ALL"]}), "rights")
        # The root is read-only: it writes where it works, to a volume.
        places = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
        volumes = {volume["name"]: volume for volume in pod(each)["volumes"]}
        equal(set(places.values()), set(volumes), "volumes, and what is mounted")
        expect("emptyDir" in volumes[places[container["workingDir"]]], f"the working folder: {volumes}")
        equal(volumes[places["/shared"]]["persistentVolumeClaim"], {"claimName": "results"}, "what shards and merge share")
        env = {entry["name"]: entry["value"] for entry in container["env"]}
        equal(env["TMPDIR"], container["workingDir"], "the folder of temporary files")
    args, merging = pod(shards)["containers"][0]["args"], pod(merge)["containers"][0]["args"]
    equal(args[args.index("--out") + 1], merging[1], "where shards and merge meet")
    equal(str(spec["completions"]), merging[merging.index("--expect") + 1], "shards that are expected")


def started(script, arguments, tmp, **env):
    """What a script starts in place of headway: a list of its arguments for each start."""
    fake = tmp / "bin"
    fake.mkdir(exist_ok=True)
    (fake / "headway").write_text(f"#!/bin/sh\nfor word in \"$@\"; do printf '%s\\0' \"$word\"; done >'{tmp}/started-'$$\nexit ${{EXIT:-0}}\n")
    # A host is a shell here, and `ssh` what gives it a line, as sshd does.
    (fake / "ssh").write_text(
        f"#!/bin/sh\nwhile [ \"$#\" -gt 2 ]; do shift; done\nprintf '%s\\n' \"$1\" >>'{tmp}/hosts'\n"
        "[ \"$1\" != down ] || exit 255\nexec sh -c \"$2\"\n"
    )
    for name in ("headway", "ssh"):
        (fake / name).chmod(0o755)
    done = subprocess.run(
        [DEPLOY / script, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, cwd=tmp,
        env=environment(PATH=f"{fake}:{os.environ['PATH']}", HEADWAY=None, **env),
    )
    files = sorted(tmp.glob("started-*"))
    lists = [file.read_text().split("\0")[:-1] for file in files]
    for file in files:
        file.unlink()
    return done, lists


# What a shell would change if it were given them bare.
AWKWARD = ["http://host/a b?c=$HOME&d='e'", "-H", 'X: "q" ; touch broken', "--out", "/shared/run 42"]


@check("deploy: the scripts of Slurm and ssh start `headway` with the arguments that they were given, word by word, and end with its code")
def scripts(tmp):
    done, lists = started("slurm/run.sbatch", AWKWARD, tmp)
    equal((done.returncode, lists), (0, [["run", *AWKWARD, "--shard", "auto"]]), "run.sbatch")
    done, lists = started("slurm/merge.sbatch", ["/shared/run 42", "--expect", "8"], tmp)
    equal((done.returncode, lists), (0, [["merge", "/shared/run 42", "--expect", "8"]]), "merge.sbatch")
    for script in ("slurm/run.sbatch", "slurm/merge.sbatch"):
        equal(started(script, ["x"], tmp, EXIT="3")[0].returncode, 3, f"the code of {script}")

    done, lists = started("ssh/run.sh", ["one user@two three", *AWKWARD], tmp)
    equal(done.returncode, 0, f"run.sh: {done.stderr}")
    equal(sorted((tmp / "hosts").read_text().split()), ["one", "three", "user@two"], "hosts")
    equal(sorted(lists), [["run", *AWKWARD, "--shard", f"{i}/3"] for i in range(3)], "run.sh")
    expect(not (tmp / "broken").exists(), "a word was run as a command")
    done, lists = started("ssh/run.sh", ["one down", *AWKWARD], tmp)
    equal((done.returncode, len(lists)), (1, 1), "run.sh with a host that is down")
    contains(done.stderr, "down: shard 1 of 2 ended with exit code 255", "what run.sh says of it")
    for few in ([], ["one"], ["", "x"]):
        done, lists = started("ssh/run.sh", few, tmp)
        equal((done.returncode, lists), (2, []), f"run.sh {few}")


@check("deploy: shellcheck finds nothing in the scripts of deploy/, packaging/ and .ci/")
def shellcheck(_):
    expect(shutil.which("shellcheck"), "shellcheck is not installed")
    files = [file for folder in ("deploy", "packaging", ".ci") for file in sorted((ROOT / folder).rglob("*")) if file.is_file()]
    bash = [file for file in files if file.read_bytes().startswith(b"#!/usr/bin/env bash\n")]
    expect(len(bash) >= 8, f"scripts: {bash}")
    tool("shellcheck", "--external-sources", "--source-path", "SCRIPTDIR", *bash)
    for file in bash:
        tool("bash", "-n", file)
        expect(os.access(file, os.X_OK), f"{file} cannot be executed")


def pod_of(job, tmp, name, **env):
    """A pod of that Job, started here; its volumes are in `tmp`."""
    container, = pod(job)["containers"]
    folder = tmp / name
    folder.mkdir()
    told = {entry["name"]: entry["value"].replace(container["workingDir"], str(folder)) for entry in container["env"]}
    args = [word.replace("/scenario/", f"{tmp}/").replace("/shared/", f"{tmp}/") for word in container["args"]]
    return Headway(args, folder, env=environment(**told, **env))


@check("deploy: the pods of a study, with the arguments of the docs, the merge first: the study of one machine to the byte")
def studied(tmp):
    arguments, = re.findall(r"`(args: \[sim, [^`]*)`", (ROOT / "docs/scale.md").read_text())
    variables = {**VARIABLES, "SHARDS": "3"}
    shards, merge = rendered("job.yaml", variables), rendered("merge.yaml", variables)
    pod(shards)["containers"][0]["args"] = yaml.safe_load(arguments.replace("$OUT", variables["OUT"]))["args"]
    (tmp / "scenario.yaml").write_text(
        "seed: 7\nusers: { arrive: { rate: 50/s }, phases: [ { hold: 20s } ] }\njourney: [ { get: / } ]\nmodel: { servers: 1, service: exp(10ms) }\n"
    )
    merging = pod_of(merge, tmp, "merge")
    for one in [pod_of(shards, tmp, f"shard-{i}", JOB_COMPLETION_INDEX=i) for i in range(shards["spec"]["completions"])]:
        one.ended().exits(0)
    contains(merging.ended().exits(0).out, "100", "what the merge reports")
    headway("sim", tmp / "scenario.yaml", "--replications", 100, "--out", tmp / "whole", cwd=tmp).exits(0)
    document = {name: json.loads((tmp / name / "study.json").read_text()) for name in ("whole", "run42-merged")}
    equal(document["whole"].pop("command") != "", True, "a command")
    document["run42-merged"].pop("command")
    equal(document["run42-merged"], document["whole"], "the merged study, and that of one machine")


@check("deploy: the pods of both Jobs, started here as Kubernetes starts them, the merge first: one run, merged and reported", alone=True)
def played(tmp):
    variables = {**VARIABLES, "SHARDS": "3"}
    shards, merge = rendered("job.yaml", variables), rendered("merge.yaml", variables)

    with Serve("--service", "const(1ms)", "--servers", "8", tmp=tmp) as serve:
        (tmp / "scenario.yaml").write_text(
            f"target: {serve.url}\nseed: 7\nusers: {{ arrive: {{ rate: 200/s }}, phases: [ {{ hold: 3s }} ] }}\njourney: [ {{ get: /, name: request }} ]\n"
        )
        merging = pod_of(merge, tmp, "merge")
        running = [pod_of(shards, tmp, f"shard-{i}", JOB_COMPLETION_INDEX=i) for i in range(shards["spec"]["completions"])]
        for shard in running:
            shard.ended().exits(0, 98)
        merged = merging.ended().exits(0, 98)
    summary = json.loads((tmp / "run42-merged/summary.json").read_text())
    n = summary["measured"]["n"]
    equal(n, len(planned(tmp / "scenario.yaml", cwd=tmp)), "arrivals of the merged run, and of the plan")
    equal(serve.report["requests"], n - never_started(summary), "requests that the target received")
    contains(merged.out, "OUTCOME", "what the merge reports")

#!/usr/bin/env python3
"""Files of deploy/ that no engine is here for: units by systemd-analyze, manifests
by a strict schema of the objects that they are, the Containerfile by what it
names. What they say of foray-host is what it takes."""
import os
import re
import shlex
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib  # noqa: E402

try:
    import jsonschema
    import yaml
except ImportError as e:
    lib.skip("not installed: %s (make deps-test)" % e)

TOP = os.path.dirname(lib.TESTS)
DEPLOY = os.path.join(TOP, "deploy")
HOST = os.path.join(os.path.dirname(lib.FORAY), "foray-host")
UNIT = os.path.join(DEPLOY, "systemd/foray-host@.service")
# A service that restricts these has no workers: see the unit.
BREAKING = ("RestrictNamespaces", "PrivateUsers", "ProtectProc", "ProcSubset",
            "ProtectKernelTunables", "ProtectKernelLogs",
            "ProtectControlGroups", "SystemCallFilter", "ProtectHostname",
            "PrivateNetwork", "MemoryDenyWriteExecute", "DynamicUser",
            "RootDirectory", "InaccessiblePaths")


def host_options(box):
    return set(re.findall(r"(--[a-z-]+)", box.call([HOST, "--help"]).out))


def options_are_known(options, text, what):
    said = set(re.findall(r"(?<![\w-])(--[a-z][a-z-]+)", text))
    lib.check(said and said <= options, what + ": options of foray-host",
              said - options)


def seconds(text):
    n, unit = re.fullmatch(r"(\d+)(s|m|min|h)?", str(text)).groups()
    return int(n) * {"s": 1, "h": 3600}.get(unit, 60 if unit else 1)


# ----------------------------------------------------------------- systemd


def settings(path):
    found = {}
    for line in lib.read(path).splitlines():
        if "=" in line and line[0] not in "#;":
            key, _, value = line.partition("=")
            found.setdefault(key, []).append(value)
    return found


def units(box, options):
    s = settings(UNIT)
    for name in BREAKING:
        lib.check(name not in s, name + "= would break the sandbox")
    lib.equal(s["Delegate"], ["yes"], "control groups are delegated")
    lib.equal(s["KillMode"], ["mixed"], "the launcher alone is told to end")
    families = s["RestrictAddressFamilies"][0].split()
    lib.check({"AF_UNIX", "AF_INET", "AF_NETLINK"} <= set(families),
              "bwrap's and our socket families", families)
    command = s["ExecStart"][0]
    options_are_known(options, command, "ExecStart")
    drain = re.search(r"--drain (\S+)", command).group(1)
    lib.check(seconds(drain) < seconds(s["TimeoutStopSec"][0]),
              "the drain fits into TimeoutStopSec", drain)
    conf = settings(os.path.join(DEPLOY, "systemd/host.conf"))
    lib.check(set(conf) == set(re.findall(r"\$\{?(FORAY_\w+)", command)),
              "the example sets what the unit takes", conf)
    options_are_known(options, conf["FORAY_OPTIONS"][0], "host.conf")
    sysusers = lib.read(os.path.join(DEPLOY, "systemd/foray.sysusers"))
    lib.check(re.search(r"^u %s " % s["User"][0], sysusers, re.M),
              "the user is made")
    if shutil.which("systemd-analyze") is None:
        print("systemd is not installed: systemd-analyze was not asked")
        return
    # It looks for the program and the manual: they are not installed here.
    here = os.path.join(box.dir, "foray-host@.service")
    text = lib.read(UNIT).replace("/usr/local/bin/foray-host", HOST)
    lib.write(here, re.sub("(?m)^Documentation=.*\n", "", text))
    r = box.call(["systemd-analyze", "verify", here])
    mine = [line for line in r.text.splitlines() if "foray-host@" in line]
    lib.check(r.status == 0 and not mine, "systemd-analyze verify", r)
    lib.write(here, text + "\nNoSuchDirective=1\n")
    r = box.call(["systemd-analyze", "verify", here])
    lib.check("NoSuchDirective" in r.text, "which would tell", r)
    r = box.call(["systemd-analyze", "security", "--offline=yes", UNIT])
    level = re.search(r"exposure level.*: ([\d.]+)", r.out)
    lib.check(level and float(level.group(1)) < 5, "exposure below 5", r.out)


# -------------------------------------------------------------- Kubernetes


def obj(required, **properties):
    """An object with these and no other members; required: names in a line."""
    return {"type": "object", "properties": properties,
            "required": required.split(), "additionalProperties": False}


STRING, BOOL = {"type": "string", "minLength": 1}, {"type": "boolean"}
COUNT = {"type": "integer", "minimum": 0}
NAME = {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"}
LABELS = {"type": "object", "additionalProperties": {
    "type": "string", "pattern": "^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"}}
META = obj("name", name=NAME, labels=LABELS)
QUANTITY = {"type": "string", "pattern": r"^\d+(m|Ki|Mi|Gi|Ti)?$"}
AMOUNTS = obj("", **{"cpu": QUANTITY, "memory": QUANTITY,
                     "ephemeral-storage": QUANTITY})
KIND = {"enum": ["RuntimeDefault", "Unconfined"]}
VOLUME = {"oneOf": [
    obj("name secret", name=NAME, secret=obj(
        "secretName", secretName=NAME, defaultMode={"enum": [0o400, 0o440]})),
    obj("name emptyDir", name=NAME, emptyDir=obj("", sizeLimit=QUANTITY))]}
CONTAINER = obj(
    "name image args securityContext resources volumeMounts",
    name=NAME, image=STRING, args={"type": "array", "items": STRING},
    securityContext=obj(
        "privileged allowPrivilegeEscalation capabilities",
        privileged={"const": False}, allowPrivilegeEscalation={"const": False},
        readOnlyRootFilesystem=BOOL, procMount={"enum": ["Default", "Unmasked"]},
        capabilities=obj("drop", drop={"const": ["ALL"]})),
    resources=obj("requests limits", requests=AMOUNTS, limits=AMOUNTS),
    volumeMounts={"type": "array", "items": obj(
        "name mountPath", name=NAME, mountPath=STRING, readOnly=BOOL)})
POD = obj(
    "hostUsers securityContext containers volumes "
    "terminationGracePeriodSeconds automountServiceAccountToken",
    hostUsers={"const": False}, automountServiceAccountToken={"const": False},
    enableServiceLinks=BOOL, terminationGracePeriodSeconds=COUNT,
    restartPolicy={"enum": ["Always", "OnFailure", "Never"]},
    securityContext=obj(
        "runAsNonRoot runAsUser", runAsNonRoot={"const": True},
        runAsUser={"type": "integer", "minimum": 1},
        runAsGroup={"type": "integer", "minimum": 1}, fsGroup=COUNT,
        seccompProfile=obj("type", type=KIND),
        appArmorProfile=obj("type", type=KIND)),
    containers={"type": "array", "minItems": 1, "items": CONTAINER},
    volumes={"type": "array", "items": VOLUME})
TEMPLATE = obj("metadata spec", metadata=obj("labels", labels=LABELS), spec=POD)
SCHEMAS = {
    ("v1", "Secret"): obj(
        "apiVersion kind metadata type stringData", apiVersion=STRING,
        kind=STRING, metadata=META, type={"const": "Opaque"},
        stringData={"type": "object", "additionalProperties": STRING}),
    ("apps/v1", "Deployment"): obj(
        "apiVersion kind metadata spec", apiVersion=STRING, kind=STRING,
        metadata=META, spec=obj(
            "selector template", replicas=COUNT,
            selector=obj("matchLabels", matchLabels=LABELS),
            strategy=obj("type", type={"enum": ["RollingUpdate", "Recreate"]},
                         rollingUpdate=obj("", maxUnavailable=COUNT,
                                           maxSurge=COUNT)),
            template=TEMPLATE)),
    ("batch/v1", "Job"): obj(
        "apiVersion kind metadata spec", apiVersion=STRING, kind=STRING,
        metadata=META, spec=obj(
            "template", parallelism=COUNT, completions=COUNT,
            backoffLimit=COUNT, ttlSecondsAfterFinished=COUNT,
            template=TEMPLATE,
            podFailurePolicy=obj("rules", rules={"type": "array", "items": obj(
                "action onExitCodes", action={"enum": ["FailJob", "Ignore"]},
                onExitCodes=obj("operator values", containerName=NAME,
                                operator={"enum": ["In", "NotIn"]}, values={
                                    "type": "array", "items": {
                                        "type": "integer", "minimum": 1}}))}))),
}


class Strict(yaml.SafeLoader):
    """A key that is there twice is an error, as it is for the API server."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(k, deep) for k, _ in node.value]
        if len(set(keys)) != len(keys):
            raise yaml.YAMLError("a key twice: %s" % keys)
        return super().construct_mapping(node, deep)


def fits(doc):
    schema = SCHEMAS.get((doc.get("apiVersion"), doc.get("kind")))
    if schema is None:
        return "an unknown object"
    errors = jsonschema.Draft7Validator(schema).iter_errors(doc)
    return "\n".join("/".join(map(str, e.absolute_path)) + ": " + e.message
                     for e in errors)


def pod_is_whole(doc, secrets, options, what):
    """What a schema can't say: references, and what foray-host is told."""
    spec = doc["spec"]["template"]["spec"]
    c = spec["containers"][0]
    lib.equal({v["name"] for v in spec["volumes"]},
              {m["name"] for m in c["volumeMounts"]}, what + ": volumes")
    for v in spec["volumes"]:
        if "secret" in v:
            lib.check(v["secret"]["secretName"] in secrets,
                      what + ": the secret is defined", v)
    options_are_known(options, " ".join(c["args"]), what)
    args = dict(a.split("=", 1) for a in c["args"])
    places = {m["mountPath"] for m in c["volumeMounts"]}
    lib.check({args["--keys"], args["--cache"]} <= places,
              what + ": its directories are mounted", args)
    lib.check(seconds(args["--drain"]) < spec["terminationGracePeriodSeconds"],
              what + ": the drain fits into the grace period")
    lib.check(c["image"] in lib.read(DEPLOY + "/Containerfile"),
              what + ": the image is the Containerfile's", c["image"])
    if doc["kind"] == "Deployment":
        lib.equal(doc["spec"]["selector"]["matchLabels"],
                  doc["spec"]["template"]["metadata"]["labels"],
                  what + ": the selector finds the pods")
        lib.equal(spec.get("restartPolicy", "Always"), "Always",
                  what + ": a Deployment's pods restart always")
        lib.check("--idle-exit" not in args, what + ": its hosts stay")
    else:
        lib.equal(spec["restartPolicy"], "Never", what + ": for its rules")
        lib.check("--idle-exit" in args, what + ": its hosts end")


def manifests(options):
    docs = {}
    for name in sorted(os.listdir(DEPLOY + "/kubernetes")):
        text = lib.read(os.path.join(DEPLOY, "kubernetes", name))
        for doc in yaml.load_all(text, Strict):
            lib.equal(fits(doc), "", name)
            docs[name] = doc
    lib.equal({d["kind"] for d in docs.values()},
              {"Secret", "Deployment", "Job"}, "the objects")
    secrets = {d["metadata"]["name"] for d in docs.values()
               if d["kind"] == "Secret"}
    for name, doc in docs.items():
        if doc["kind"] == "Secret":
            lib.equal(set(doc["stringData"]),
                      {"server.pub", "host.pub", "host.secret"},
                      "the secret has what a host reads")
        else:
            pod_is_whole(doc, secrets, options, name)
    # The check itself can fail.
    doc = docs["job.yaml"]
    pod = doc["spec"]["template"]["spec"]
    pod["containers"][0]["securityContext"]["privileged"] = True
    pod["hostUser"] = pod.pop("hostUsers")
    lib.check("privileged" in fits(doc) and "hostUser" in fits(doc),
              "a wrong manifest is found", fits(doc))


# ----------------------------------------------------------- Containerfile


def containerfile():
    text = lib.read(DEPLOY + "/Containerfile")
    lines = [line for line in re.sub(r"\\\n", " ", text).splitlines()
             if line and line[0] != "#"]
    words = [line.split(None, 1) for line in lines]
    lib.check({w[0] for w in words} <= {
        "FROM", "COPY", "WORKDIR", "RUN", "USER", "ENV", "VOLUME",
        "STOPSIGNAL", "ENTRYPOINT", "CMD"}, "instructions", lines)
    last = max(i for i, w in enumerate(words) if w[0] == "FROM")
    user = [w[1] for w in words[last:] if w[0] == "USER"]
    lib.check(user and re.fullmatch(r"[1-9]\d*:[1-9]\d*", user[-1]),
              "it does not run as root", user)
    # The libraries that its programs are linked with here.
    said = shlex.split(" ".join(w[1] for w in words[last:] if w[0] == "RUN"))
    for prog in ("foray-host", "foray-worker"):
        path = os.path.join(os.path.dirname(lib.FORAY), prog)
        with os.popen("objdump -p %s" % shlex.quote(path)) as f:
            needed = re.findall(r"NEEDED\s+(\S+)", f.read())
        lib.check(needed, prog + " needs libraries")
        for lib_name in needed:
            m = re.match(r"lib(zmq|msgpackc|bsd|jansson|utf8proc|seccomp|"
                         r"sodium)\.so\.(\d+)", lib_name)
            if m:
                lib.check("lib%s%s" % m.groups() in said,
                          "the image has " + lib_name, said)
            else:
                lib.check(re.match(r"(libc|libm|libstdc|libgcc|libasan|"
                                   r"libubsan|ld-linux)", lib_name),
                          "a library that the Containerfile lacks", lib_name)


def main():
    with lib.Box() as box:
        options = host_options(box)
        units(box, options)
        manifests(options)
        containerfile()
    lib.done()


main()

#!/usr/bin/env python3
"""An executor for spirv-tv that has no device: it answers with an outcome that spirv-tv itself allows.

It shows the whole protocol (docs/executor.md); an executor of your own has another `run`. SPIRV_TV names the program.
"""
import json
import os
import random
import subprocess
import sys

PROTOCOL = "spirv-tv.executor/1"


def run(folder, request):
    """The answer to a request to run a case."""
    command = [os.environ.get("SPIRV_TV", "spirv-tv"), "outcomes", "module.spv", "--format", "json"]
    command += ["--entry", request["entry"], "--workgroups", ",".join(map(str, request["workgroups"]))]
    command += ["--out-of-bounds", {"none": "undefined"}.get(request["robustness"], request["robustness"])]
    if request["subgroup_size"] is not None:
        command += ["--subgroup-size", str(request["subgroup_size"])]
    for constant in request["specialisation"]:
        command += ["--spec", f"{constant['id']}={int.from_bytes(constant['bytes'], 'little')}"]
    if request["push"] is not None:
        command += ["--push", "@" + request["push"]]
    for resource in request["resources"]:
        # A buffer that only addresses lead to has a name that says where the address is: ptr:push+8.
        if resource["kind"] in ("storage-buffer", "uniform-buffer", "buffer"):
            command += ["--buffer", f"{resource['name']}=@{resource['file']}"]
        elif resource["kind"] == "same-as":
            command += ["--alias", f"{resource['name']}={request['resources'][resource['resource']]['name']}"]
        else:
            return {"status": "unsupported", "missing": [resource["kind"]]}
    for address in request["addresses"]:
        target = request["resources"][address["target"]]
        if address["within"] is None and target["slot"]:
            command += ["--push-pointer", f"{address['offset']}={target['name']}+{address['byte']}"]
        elif target["slot"] or not target["name"].startswith("ptr:"):
            return {"status": "unsupported", "missing": ["addresses of buffers in buffers"]}
    # A search that is cut knows too little: many instances at once are more than it can go through.
    # A quarter of the time is for the search, so that a loaded machine has time to answer, too.
    command += ["--timeout", str(request["time_ms"] / 4000)]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    too_large = {"status": "unsupported", "missing": ["outcomes that can be searched in time"]}
    if ran.returncode == 3:
        return too_large
    if ran.returncode != 0:
        return {"status": "failed", "message": ran.stderr.strip()}
    told = json.loads(ran.stdout)
    terminated = [one["memory"] for one in told["outcomes"] if one["end"] == "terminated"]
    if not terminated:
        # Within its bounds it may not have come to an end, which says nothing about the program.
        return too_large if told["bounded"] else {"status": "timed-out"}
    shown = [random.randrange(len(terminated)) for _ in range(request["times"])]
    runs = [{"count": shown.count(one), "memory": write(folder, request, terminated[one], one)} for one in set(shown)]
    return {"status": "finished", "runs": runs}


def write(folder, request, memory, number):
    """Writes what resources hold, and gives the names of the files."""
    names = []
    for resource in request["resources"]:
        if resource["kind"] not in ("storage-buffer", "buffer"):
            names.append(None)
            continue
        name = f"{number}.{len(names)}.bin"
        with open(os.path.join(folder, name), "wb") as file:
            for word in memory[resource["name"]]:
                # An undefined byte may hold anything.
                file.write(bytes.fromhex(word[2:].replace("??", "a5"))[::-1])
        names.append(name)
    return names


def answer(folder):
    """Answers the request in a folder."""
    with open(os.path.join(folder, "request.json")) as file:
        request = json.load(file)
    if request["protocol"] != PROTOCOL:
        sys.exit(f"the protocol is {request['protocol']}")
    if request["request"] == "describe":
        told = {"status": "described", "device": {"name": "spirv-tv's own outcomes"}}
    else:
        told = run(folder, request)
    with open(os.path.join(folder, "answer.json"), "w") as file:
        json.dump({"protocol": PROTOCOL, **told}, file)


if len(sys.argv) > 1:
    answer(sys.argv[1])
else:
    for line in sys.stdin:
        answer(line.rstrip("\n"))
        print("spirv-tv.executor done", flush=True)

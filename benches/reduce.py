#!/usr/bin/env python3
"""Compares `spirv-tv reduce` with spirv-reduce on twenty-three cases, with the same predicate (`spirv-tv interesting`).

usage: benches/reduce.py ours FOLDER SPIRV-TV INFLATE [CASE…]
       benches/reduce.py theirs FOLDER SPIRV-TV INFLATE [CASE…]
       benches/reduce.py table FOLDER

Ten cases are pairs of the corpus and thirteen are optimiser findings and crashes, of which after is made anew from each before. Each
module is made larger first: by a function with loops and branches that has nothing to do with the case and is called
several times, and by the preserving rewrites of `mutators/` (INFLATE is its example `inflate`; where it is the word `function` there is the
function alone, and where it is `none` no module is made larger). Both sides of a pair have the same seed. spirv-reduce takes one file: of a pair it reduces before with after as
it was, and then after with the before that it found; what it found when its time is over counts. Sizes are instructions, those of
both modules for pairs. FOLDER keeps the cases and what was measured. spirv-as, spirv-dis and spirv-reduce of SPIRV-Tools are on the
PATH.
"""

import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CORPUS = Path(__file__).resolve().parent.parent / "corpus"

# Pairs of the corpus, by folder.
PAIRS = [
    "pairs/store-sunk-below-release",
    "pairs/atomic-store-sunk-below-release",
    "pairs/barrier-removed",
    "pairs/atomic-load-made-plain",
    "pairs/fence-dropped",
    "pairs/acquire-fence-sunk-below-load",
    "pairs/float-clamp-bounds-swapped",
    "pairs/division-speculated",
    "pairs/barrier-semantics-dropped",
    "pairs/acquire-weakened-to-relaxed",
]

# Findings and crashes of the bundled spirv-opt, with its flags.
FINDINGS = [
    "findings/aliased-loads-merged/before.spvasm",
    "findings/division-hoisted-out-of-loop/before.spvasm",
    "crashes/like-blocks-clamped.spvasm",
    "crashes/coherent-image-upgraded.spvasm",
    "findings/inlined-initializer-stored-to-constant-table/before.spvasm",
    "findings/volatile-load-removed/before.spvasm",
    "findings/volatile-load-narrowed/before.spvasm",
    "crashes/named-counter-fused.spvasm",
    "crashes/addition-of-constants-folded.spvasm",
    "crashes/wide-switch-selector.spvasm",
    "crashes/loop-without-peeling.spvasm",
    "findings/private-to-local-forgets-between-calls/before.spvasm",
    "findings/volatile-image-read-removed/before.spvasm",
]

# The seed of the rewrites of each case: a small one with which it still shows the failure that it showed.
SEEDS = {
    "pairs/store-sunk-below-release": 1,
    "pairs/atomic-store-sunk-below-release": 1,
    "pairs/barrier-removed": 4,
    "pairs/atomic-load-made-plain": 4,
    "pairs/fence-dropped": 4,
    "pairs/acquire-fence-sunk-below-load": 5,
    "pairs/float-clamp-bounds-swapped": 6,
    "pairs/division-speculated": 7,
    "pairs/barrier-semantics-dropped": 13,
    "pairs/acquire-weakened-to-relaxed": 9,
    "findings/aliased-loads-merged": 10,
    "findings/division-hoisted-out-of-loop": 11,
    "crashes/like-blocks-clamped": 12,
    "crashes/coherent-image-upgraded": 13,
    "findings/inlined-initializer-stored-to-constant-table": 16,
    "findings/volatile-load-removed": 15,
    "findings/volatile-load-narrowed": 16,
    "crashes/named-counter-fused": 27,
    "crashes/addition-of-constants-folded": 18,
    "crashes/wide-switch-selector": 19,
    "crashes/loop-without-peeling": 20,
    "findings/private-to-local-forgets-between-calls": 32,
    "findings/volatile-image-read-removed": 21,
}

# How often the function that has nothing to do with the case is called.
CALLS = 6

# The time of one reduction in seconds; where ours takes longer, spirv-reduce has as long.
LIMIT = 150


def run(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, **options)


def assemble(text, path):
    with tempfile.NamedTemporaryFile("w", suffix=".spvasm") as file:
        file.write(text)
        file.flush()
        done = run("spirv-as", "--preserve-numeric-ids", "--target-env", "spv1.6", file.name, "-o", path)
        if done.returncode:
            raise RuntimeError(done.stderr)


def disassemble(path):
    return run("spirv-dis", "--raw-id", "--no-header", path).stdout


def instructions(path):
    return sum(1 for line in disassemble(path).splitlines() if "Op" in line)


def with_noise(text):
    """The text of a module with a function that is called at the begin of its entry point."""
    lines = [line.strip() for line in text.splitlines()]
    declared = []

    def need(pattern, name, declaration):
        for line in lines + declared:
            found = re.fullmatch(r"(%\w+) = " + pattern, line)
            if found:
                return found.group(1)
        declared.append(f"{name} = {declaration}")
        return name

    void = need("OpTypeVoid", "%noise_void", "OpTypeVoid")
    flag = need("OpTypeBool", "%noise_bool", "OpTypeBool")
    uint = need("OpTypeInt 32 0", "%noise_uint", "OpTypeInt 32 0")
    pointer = need(f"OpTypePointer Private {uint}", "%noise_pointer", f"OpTypePointer Private {uint}")
    signature = need(f"OpTypeFunction {void} {uint}", "%noise_signature", f"OpTypeFunction {void} {uint}")
    zero = need(f"OpConstant {uint} 0", "%noise_0", f"OpConstant {uint} 0")
    one = need(f"OpConstant {uint} 1", "%noise_1", f"OpConstant {uint} 1")
    five = need(f"OpConstant {uint} 5", "%noise_5", f"OpConstant {uint} 5")
    declared.append(f"%noise_variable = OpVariable {pointer} Private {zero}")
    calls = []
    for number in range(CALLS):
        argument = need(f"OpConstant {uint} {number + 10}", f"%noise_c{number}", f"OpConstant {uint} {number + 10}")
        calls.append(f"%noise_call_{number} = OpFunctionCall {void} %noise {argument}")
    body = f"""
        %noise = OpFunction {void} None {signature}
        %noise_n = OpFunctionParameter {uint}
        %noise_entry = OpLabel
        OpBranch %noise_header
        %noise_header = OpLabel
        %noise_i = OpPhi {uint} {zero} %noise_entry %noise_next %noise_continue
        OpLoopMerge %noise_out %noise_continue None
        OpBranch %noise_test
        %noise_test = OpLabel
        %noise_in = OpULessThan {flag} %noise_i {five}
        OpBranchConditional %noise_in %noise_body %noise_out
        %noise_body = OpLabel
        %noise_old = OpLoad {uint} %noise_variable
        %noise_odd = OpBitwiseAnd {uint} %noise_old {one}
        %noise_is_odd = OpIEqual {flag} %noise_odd {one}
        OpSelectionMerge %noise_joined None
        OpBranchConditional %noise_is_odd %noise_left %noise_right
        %noise_left = OpLabel
        %noise_triple = OpIMul {uint} %noise_old %noise_n
        %noise_more = OpIAdd {uint} %noise_triple {one}
        OpStore %noise_variable %noise_more
        OpBranch %noise_joined
        %noise_right = OpLabel
        %noise_half = OpShiftRightLogical {uint} %noise_old {one}
        %noise_sum = OpIAdd {uint} %noise_half %noise_n
        OpStore %noise_variable %noise_sum
        OpBranch %noise_joined
        %noise_joined = OpLabel
        OpBranch %noise_continue
        %noise_continue = OpLabel
        %noise_next = OpIAdd {uint} %noise_i {one}
        OpBranch %noise_header
        %noise_out = OpLabel
        OpReturn
        OpFunctionEnd"""
    entry = next(line.split()[2] for line in lines if line.startswith("OpEntryPoint"))
    made, inside, done = [], False, False
    for line in lines:
        if line.startswith("OpEntryPoint"):
            line += " %noise_variable"
        if " = OpFunction " in line and declared:
            made += declared
            declared = []
        if line.startswith(f"{entry} = OpFunction "):
            inside = True
        is_head = any(word in line for word in ("OpFunction ", "OpLabel", "OpVariable", "OpFunctionParameter"))
        if inside and not done and not is_head:
            made += calls
            done = True
        made.append(line)
    return "\n".join(made) + body + "\n"


def inflated(source, inflate, path, seed):
    """The module of an assembly text, larger."""
    first = f"{path}.first"
    done = run("spirv-as", "--preserve-numeric-ids", "--target-env", "spv1.6", source, "-o", first)
    if done.returncode:
        raise RuntimeError(done.stderr)
    if inflate == "none":
        os.rename(first, path)
        return
    if inflate == "function":
        assemble(with_noise(disassemble(first)), path)
        return
    assemble(with_noise(disassemble(first)), first)
    done = run(inflate, first, path, str(seed))
    if done.returncode:
        raise RuntimeError(done.stderr)


def options_of(folder):
    """The launch options of a pair, as its pair.toml has them."""
    text = (folder / "pair.toml").read_text() if (folder / "pair.toml").exists() else ""
    found = re.search(r"^args = \[(.*)\]$", text, re.M)
    return re.findall(r'"([^"]*)"', found.group(1)) if found else []


def flags_of(path):
    """The flags of the pass, as a finding or a crash has them."""
    if path.parent.name == "crashes":
        return "--" + re.search(r"^; passes: --(\S+)", path.read_text(), re.M).group(1)
    return re.search(r'^origin = "spirv-opt \S+ ([^"]*)"', (path.parent / "pair.toml").read_text(), re.M).group(1)


def spirv_reduce(binary, predicate, output, limit):
    """Reduces a file with spirv-reduce; the number of times that the predicate was asked, and whether it came to its end."""
    with tempfile.TemporaryDirectory() as folder:
        script, count, best = (Path(folder) / name for name in ("predicate", "count", "best"))
        best.write_bytes(Path(binary).read_bytes())
        # What is interesting is kept: where spirv-reduce is ended it writes nothing.
        script.write_text(f"#!/bin/sh\necho >> {count}\n{predicate} || exit 1\ncp \"$1\" {best}.new && mv {best}.new {best}\n")
        script.chmod(0o755)
        process = subprocess.Popen(
            ["spirv-reduce", "--step-limit=100000", f"--temp-file-prefix={folder}/step", binary, "-o", output,
             "--", str(script)], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            process.wait(timeout=limit)
            ended = True
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            ended = False
        asked = len(count.read_text().splitlines()) if count.exists() else 0
        if not ended or not os.path.exists(output):
            Path(output).write_bytes(best.read_bytes())
        return asked, ended


def cases():
    """The name, the sources and the options of each case."""
    for name in PAIRS:
        yield name, [str(CORPUS / name / f"{side}.spvasm") for side in ("before", "after")], options_of(CORPUS / name)
    for path in FINDINGS:
        source = CORPUS / path
        options = options_of(source.parent) if source.parent.name != "crashes" else []
        name = path.removesuffix("/before.spvasm").removesuffix(".spvasm")
        yield name, [str(source)], ["--pipeline", flags_of(source), *options]


def prepared(place, seed, sources, inflate):
    """The larger modules of a case."""
    place.mkdir(parents=True, exist_ok=True)
    first = [str(place / f"{number}.spv") for number in range(len(sources))]
    for source, path in zip(sources, first):
        if not os.path.exists(path):
            inflated(source, inflate, path, seed)
    return first


def bucket_of(tool, files, options):
    found = run(tool, "interesting", *files, *options, timeout=LIMIT)
    if found.returncode:
        raise RuntimeError(found.stdout + found.stderr)
    return found.stdout.strip()


def ours(place, tool, first, options):
    """What `reduce` makes of a case."""
    out = place / "ours"
    shutil.rmtree(out, ignore_errors=True)
    begun = time.time()
    told = run(tool, "reduce", *first, *options, "--jobs", "1", "-o", str(out), "--format", "json", "--timeout", str(2 * LIMIT))
    seconds = time.time() - begun
    if told.returncode not in (0, 3):
        raise RuntimeError(told.stderr)
    said = json.loads(told.stdout)
    size = sum(instructions(out / f"{part}.spv") for part in ["before", "after"][: len(first)])
    return {"size": size, "checks": said["checks"], "seconds": seconds, "ended": told.returncode == 0}


def theirs(place, tool, first, options):
    """What spirv-reduce makes of a case."""
    known = place / "ours.json"
    limit = max(LIMIT, json.loads(known.read_text())["seconds"] if known.exists() else 0)
    ask = f"{tool} interesting -q --bucket '{bucket_of(tool, first, options)}'"
    rest = " ".join(f"'{word}'" for word in options)
    begun = time.time()
    checks, best, ended = 0, list(first), True
    for number in range(len(first)):
        others = ['"$1"' if other == number else best[other] for other in range(len(first))]
        output = str(place / f"theirs-{number}.spv")
        left = (limit - (time.time() - begun)) / (len(first) - number)
        asked, is_whole = spirv_reduce(best[number], f"{ask} {' '.join(others)} {rest}", output, left)
        checks += asked
        ended = ended and is_whole
        best[number] = output
    size = sum(instructions(path) for path in best)
    return {"size": size, "checks": checks, "seconds": time.time() - begun, "ended": ended}


def table(folder):
    print("| case | before | ours | spirv-reduce | ratio | checks | its checks | seconds | its seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    ratios, known = {"pairs": [], "findings": []}, 0
    for name, sources, _ in cases():
        place = folder / name
        files = [place / "ours.json", place / "theirs.json"]
        if not all(file.exists() for file in files):
            continue
        known += 1
        size = sum(instructions(str(place / f"{number}.spv")) for number in range(len(sources)))
        one, other = (json.loads(file.read_text()) for file in files)
        ratio = one["size"] / other["size"]
        ratios["pairs" if name in PAIRS else "findings"].append(ratio)
        over = ["" if side["ended"] else "*" for side in (one, other)]
        print(f"| `{name}` | {size} | {one['size']}{over[0]} | {other['size']}{over[1]} | {ratio:.2f} | {one['checks']} | "
              f"{other['checks']} | {one['seconds']:.0f} | {other['seconds']:.0f} |")
    everything = ratios["pairs"] + ratios["findings"]
    if everything:
        medians = ", ".join(f"{statistics.median(some):.2f} of {kind}" for kind, some in ratios.items() if some)
        print(f"\n{known} of {len(PAIRS) + len(FINDINGS)} cases; median of the ratios {statistics.median(everything):.2f}: {medians}. "
              "*: the time was over")


def main():
    what, folder = sys.argv[1], Path(sys.argv[2]).resolve()
    if what == "table":
        table(folder)
        return
    tool, inflate, *wanted = sys.argv[3:]
    tool, inflate = os.path.abspath(tool), inflate if inflate in ("none", "function") else os.path.abspath(inflate)
    measure = {"ours": ours, "theirs": theirs}[what]
    for name, sources, options in cases():
        if wanted and not any(word in name for word in wanted):
            continue
        place = folder / name
        try:
            first = prepared(place, SEEDS[name], sources, inflate)
            result = {"bucket": bucket_of(tool, first, options), **measure(place, tool, first, options)}
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"{name}: left out: {' '.join(str(error).split())}", flush=True)
            continue
        (place / f"{what}.json").write_text(json.dumps(result) + "\n")
        print(f"{name}: {json.dumps(result)}", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares `spirv-tv reduce` with spirv-reduce on twenty-two cases, with the same predicate (`spirv-tv interesting`).

usage: benches/reduce.py SPIRV-TV INFLATE [CASE…]

Ten cases are pairs of the corpus and twelve are optimiser findings and crashes, of which after is made anew from each before. Each
module is made larger first: by the preserving rewrites of `mutators/` (INFLATE is its example `inflate`), and by a function
with loops and branches that has nothing to do with the case and is called several times. spirv-reduce takes one file: of a
pair it reduces before with after as it was, and then after with the before that it found. Sizes are instructions, those of both
modules for pairs. spirv-as, spirv-dis and spirv-reduce of SPIRV-Tools are on the PATH.
"""

import os
import re
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
    "crashes/loop-unrolled-without-rest.spvasm",
]

# How often the function that has nothing to do with the case is called.
CALLS = 6

# The time of one reduction in seconds.
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


def inflated(source, inflate, path):
    """The module of an assembly text, larger."""
    first = f"{path}.first"
    done = run("spirv-as", "--preserve-numeric-ids", "--target-env", "spv1.6", source, "-o", first)
    if done.returncode:
        raise RuntimeError(done.stderr)
    assemble(with_noise(disassemble(first)), first)
    done = run(inflate, first, path)
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


def spirv_reduce(binary, predicate, output):
    """Reduces a file with spirv-reduce; the number of times that the predicate was asked."""
    with tempfile.TemporaryDirectory() as folder:
        script, count = Path(folder) / "predicate", Path(folder) / "count"
        script.write_text(f"#!/bin/sh\necho >> {count}\n{predicate}\n")
        script.chmod(0o755)
        try:
            run("spirv-reduce", "--step-limit=100000", f"--temp-file-prefix={folder}/step", binary, "-o", output,
                "--", str(script), timeout=LIMIT, cwd=folder)
            ended = True
        except subprocess.TimeoutExpired:
            ended = False
        asked = len(count.read_text().splitlines()) if count.exists() else 0
        if not os.path.exists(output):
            # It was ended, or made nothing of it: the best so far is the first one.
            Path(output).write_bytes(Path(binary).read_bytes())
        return asked, ended


def measure(name, tool, inflate, files, options):
    with tempfile.TemporaryDirectory() as folder:
        first = [f"{folder}/{number}.spv" for number in range(len(files))]
        for source, path in zip(files, first):
            inflated(source, inflate, path)
        found = run(tool, "interesting", *first, *options, timeout=LIMIT)
        if found.returncode:
            print(f"| {name} | left out: {found.stdout.strip()}{found.stderr.strip()} |", flush=True)
            return None
        bucket = found.stdout.strip()
        size = sum(instructions(path) for path in first)
        begun = time.time()
        told = run(tool, "reduce", *first, *options, "--jobs", "1", "-o", f"{folder}/out", "--timeout", str(LIMIT))
        ours_time = time.time() - begun
        if told.returncode not in (0, 3):
            print(f"| {name} | failed: {told.stderr.strip()} |", flush=True)
            return None
        names = ["before", "after"][: len(first)]
        ours = sum(instructions(f"{folder}/out/{part}.spv") for part in names)
        checks = int(re.search(r"(\d+) smaller cases", told.stdout).group(1))
        ask = f"{tool} interesting -q --bucket '{bucket}'"
        rest = " ".join(f"'{word}'" for word in options)
        begun = time.time()
        theirs_checks, best = 0, list(first)
        for number in range(len(first)):
            others = [f'"$1"' if other == number else best[other] for other in range(len(first))]
            output = f"{folder}/theirs-{number}.spv"
            asked, _ = spirv_reduce(best[number], f"{ask} {' '.join(others)} {rest}", output)
            theirs_checks += asked
            best[number] = output
        theirs_time = time.time() - begun
        theirs = sum(instructions(path) for path in best)
        ratio = ours / theirs
        print(f"| {name} | {size} | {ours} | {theirs} | {ratio:.2f} | {checks} | {theirs_checks} | {ours_time:.0f} | "
              f"{theirs_time:.0f} | `{bucket}` |", flush=True)
        return ratio


def main():
    tool, inflate, *wanted = sys.argv[1:]
    tool, inflate = os.path.abspath(tool), os.path.abspath(inflate)
    print("| case | before | ours | spirv-reduce | ratio | checks | its checks | seconds | its seconds | bucket |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    ratios = []
    cases = [(name, [str(CORPUS / name / f"{side}.spvasm") for side in ("before", "after")], options_of(CORPUS / name))
             for name in PAIRS]
    for path in FINDINGS:
        source = CORPUS / path
        options = options_of(source.parent) if source.parent.name != "crashes" else []
        cases.append((path.removesuffix("/before.spvasm"), [str(source)], ["--pipeline", flags_of(source), *options]))
    for name, files, options in cases:
        if not wanted or any(word in name for word in wanted):
            try:
                ratios.append(measure(name, tool, inflate, files, options))
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print(f"| {name} | left out: {' '.join(str(error).split())} |", flush=True)
    known = [ratio for ratio in ratios if ratio is not None]
    if known:
        print(f"\n{len(known)} of {len(ratios)} cases; median of the ratios {statistics.median(known):.2f}")


if __name__ == "__main__":
    main()

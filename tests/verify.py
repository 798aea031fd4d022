#!/usr/bin/env python3
"""Runs every test that exists, and writes down what came of it: docs/verified.md. What ./dev verify calls.

Its parts take about an hour each on two cores: all tests in shards, the tests under the sanitizers, the
benchmarks, the fuzz targets. A part is done once its row in the page names the last commit (commits of
docs/ alone do not count), so that a run that was stopped goes on with the next part. A part that failed is done,
too: naming it runs it again. What is written below the table stays.

  tests/verify.py [PART...]
"""

import datetime
import pathlib
import re
import signal
import subprocess
import sys
import time

SHARDS = 8
PARTS = {f"tests {k}/{SHARDS}": ["test", "--full", "--shard", f"{k}/{SHARDS}"] for k in range(1, SHARDS + 1)} | {
    "sanitizers": ["lint", "sanitizers"],
    "bench": ["bench"],
    "fuzz": ["fuzz", "10"],
}

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "verified.md"
LOGS = ROOT / "build" / "verify"
HEAD = """# What was run, and when?

`./dev verify` runs each test, benchmark and fuzz target that there is, and writes this table.

| part | date | commit | result | minutes |
|---|---|---|---|---|
"""
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$")
TESTS = re.compile(r"^\d+% tests passed, (\d+) tests failed out of (\d+)$", re.M)
FAILED = re.compile(r"^\s*\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Subprocess aborted|Not Run|[^)]*Exception[^)]*)\)", re.M)
FUZZED = re.compile(r"^(\w+) +([\d,]+) +([\d.]+) +(\d+) +([\d.]+)  (yes|no)$", re.M)


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def read_page():
    """The rows by part, and the text below the table."""
    if not PAGE.exists():
        return {}, ""
    lines = PAGE.read_text().splitlines()
    rows = {}
    last = next((number for number, line in enumerate(lines) if line.startswith("|---")), 0)
    for number, line in enumerate(lines):
        if (row := ROW.match(line)) and row[1] in PARTS:
            rows[row[1]] = row.groups()[1:]
            last = number
    return rows, "\n".join(lines[last + 1 :]).strip()


def write_page(rows, below):
    text = HEAD
    for part in PARTS:
        if part in rows:
            text += f"| {part} | {' | '.join(rows[part])} |\n"
    PAGE.write_text(text + (f"\n{below}\n" if below else ""))


def result_of(part, status, output):
    if summaries := TESTS.findall(output):
        failed = sum(int(count) for count, _ in summaries)
        words = f"{sum(int(count) for _, count in summaries):,} tests, {failed} failed"
        names = list(dict.fromkeys(FAILED.findall(output)))
        words += "".join(f" `{name}`" for name in names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
        return words if failed or status == 0 else f"{words}; ended with status {status}"
    if fuzzed := FUZZED.findall(output):
        runs = sum(int(row[1].replace(",", "")) for row in fuzzed)
        cpu = sum(float(row[2]) for row in fuzzed)
        found = "nothing found" if status == 0 else "found something"
        return f"{len(fuzzed)} targets, {runs:,} executions in {cpu:.0f} min of CPU time, {found}"
    return "passed" if status == 0 else f"failed with status {status}: build/verify/{log_of(part).name}"


def log_of(part):
    return LOGS / (re.sub(r"\W", "_", part) + ".log")


def run(part):
    """Status and output of `./dev ...`, which is shown as it comes, too."""
    LOGS.mkdir(parents=True, exist_ok=True)
    command = [ROOT / "dev", *PARTS[part]]
    output = []
    with open(log_of(part), "w") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        for line in process.stdout:
            output.append(line)
            log.write(line)
            log.flush()
            sys.stdout.write(line)
        return process.wait(), "".join(output)


def main():
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    wanted = sys.argv[1:]
    if unknown := [part for part in wanted if part not in PARTS]:
        sys.exit(f"no such part: {', '.join(unknown)}; there are: {', '.join(PARTS)}")
    if git("status", "--porcelain", "--", ".", ":!docs"):
        sys.exit("commit first: docs/verified.md names the commit that was tested")
    commit = git("log", "-1", "--format=%h", "--", ".", ":!docs")
    rows, below = read_page()
    left = wanted or [part for part in PARTS if part not in rows or rows[part][1] != commit]
    all_passed = True
    for number, part in enumerate(left, 1):
        print(f"== part {number} of {len(left)}: {part} (./dev {' '.join(PARTS[part])})", flush=True)
        began = time.monotonic()
        status, output = run(part)
        minutes = (time.monotonic() - began) / 60
        rows[part] = (datetime.date.today().isoformat(), commit, result_of(part, status, output), f"{minutes:.0f}")
        write_page(rows, below)
        all_passed = all_passed and status == 0
        print(f"== {part}: {rows[part][2]}, {minutes:.0f} min", flush=True)
    print(f"== {PAGE.relative_to(ROOT)}: {len(left)} parts run at {commit}" if left else f"== every part was run at {commit}")
    sys.exit(0 if all_passed else 1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped: ./dev verify goes on with this part")

#!/usr/bin/env python3
"""Runs every test that exists, and writes down what came of it: docs/verified.md. What ./dev verify calls.

Its parts take about an hour each on two cores: all tests in shards, those of `./dev test` in a bare Debian 13, the
tests under each sanitizer, the benchmarks, the fuzz targets in shards. A part is done once its row in the page names
the last commit (commits of the page alone do not count), so that a run that was stopped goes on with the next part.
The part whose last run is longest ago comes first: who has an hour at a time runs them all in turn. A part that
failed is done, too: naming it runs it again. What is written below the table stays.

The status is 0 if the rows of all parts (or of those named) say that they passed at the last commit, else 1.

  tests/verify.py [PART...]
"""

import datetime
import os
import pathlib
import re
import signal
import subprocess
import sys
import time


def shards(part, count, *command):
    return {f"{part} {k}/{count}": [*command, "--shard", f"{k}/{count}"] for k in range(1, count + 1)}


PARTS = {
    **shards("tests", 8, "test", "--full"),
    "Debian 13": ["test", "--on", "trixie"],
    "asan": ["lint", "asan", "--full"],
    "tsan": ["lint", "tsan"],
    "bench": ["bench"],
    **shards("fuzz", 3, "fuzz", "10"),
}
GRACE_SECONDS = 10
MOST_NAMES = 20

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "verified.md"
LOGS = ROOT / "build" / "verify"
HEAD = """# What was run, and when?

`./dev verify` runs each test, benchmark and fuzz target that there is, and writes this table.
The row of a part names the tests that failed or were skipped. `./dev verify 'tests 3/8'` runs one part again.

| part | date | commit | result | minutes |
|---|---|---|---|---|
"""
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$")
TESTS = re.compile(r"^\d+% tests passed, \d+ tests failed out of (\d+)$", re.M)
LISTED = re.compile(r"^The following tests (FAILED|did not run):\n((?:[ \t]+\d+ - .*\n)+)", re.M)
NAME = re.compile(r"^[ \t]+\d+ - (.+) \([^()]*\)", re.M)
FUZZED = re.compile(r"^(\w+) +([\d,]+) +([\d.]+) +(\d+) +([\d.]+)  (yes|no|failed)$", re.M)

stop_requests = []


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def read_page():
    """The rows by part, and the text below the table."""
    if not PAGE.exists():
        return {}, ""
    lines = PAGE.read_text().splitlines()
    rows = {}
    below = next((number for number, line in enumerate(lines, 1) if line.startswith("|---")), 0)
    while below < len(lines) and lines[below].startswith("|"):
        if row := ROW.match(lines[below]):
            rows[row[1]] = row.groups()[1:]
        below += 1
    return rows, "\n".join(lines[below:]).strip()


def write_page(rows, below):
    text = HEAD
    for part in PARTS:
        if part in rows:
            text += f"| {part} | {' | '.join(rows[part])} |\n"
    PAGE.write_text(text + (f"\n{below}\n" if below else ""))


def counted(names, what):
    """For example ", 2 failed (`A.B`, `C.D`)"."""
    few = [f"`{name}`" for name in names[:MOST_NAMES]]
    if more := len(names) - len(few):
        few.append(f"{more} more")
    return f", {len(names)} {what}" + (f" ({', '.join(few)})" if few else "")


def told_by_ctest(output, status):
    """What its summaries say, the second of those that failed in the first; "" where there is none."""
    listed = {"FAILED": [], "did not run": []}
    for title, lines in LISTED.findall(output):
        listed[title] += NAME.findall(lines)
    if not (total := TESTS.search(output)):
        return ""
    failed = list(dict.fromkeys(listed["FAILED"]))
    told = counted(failed, "failed" if status else "passed alone only") if failed else ""
    return f"{int(total[1]):,} tests{told}{counted(listed['did not run'], 'skipped')}"


def told_by_fuzzers(output):
    rows = FUZZED.findall(output)
    if not rows:
        return ""
    runs = sum(int(row[1].replace(",", "")) for row in rows)
    cpu = sum(float(row[2]) for row in rows)
    failed = [row[0] for row in rows if row[5] == "failed"]
    not_done = [row[0] for row in rows if row[5] == "no"]
    words = f"{len(rows)} targets, {runs:,} executions in {cpu:.0f} min of CPU time{counted(failed, 'failed')}"
    return words + (counted(not_done, "not done") if not_done else "")


def result_of(part, status, output):
    told = told_by_ctest(output, status) or told_by_fuzzers(output)
    if status != 0:
        result = f"failed: {told + '; ' if told else ''}status {status}, build/verify/{log_of(part).name}"
    elif part == "bench":
        result = "passed"
    else:
        result = f"passed: {told}" if told else "failed: no test was run"
    return result.replace("|", "/")  # which would end the cell


def passed(row, commit):
    return row is not None and row[1] == commit and row[2].startswith("passed")


def log_of(part):
    return LOGS / (re.sub(r"\W", "_", part) + ".log")


def end_group(process):
    """Ends what is left of the process group of `./dev`: asks it to end, and kills it after a grace."""
    deadline = time.monotonic() + GRACE_SECONDS
    try:
        os.killpg(process.pid, signal.SIGTERM)
        while time.monotonic() < deadline:
            process.poll()  # else `./dev` itself stays a member of the group
            os.killpg(process.pid, 0)
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass  # Nothing is left of it, or only programs of root (sudo).
    process.wait()


def run(part):
    """Status and output of `./dev ...`, which is shown as it comes, too; None where it was asked to stop."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = log_of(part)
    # Into a file and not a pipe: the end of a pipe comes only after the last stray program that holds it.
    with open(log, "wb") as into, open(log, "rb") as written:
        process = subprocess.Popen(
            [ROOT / "dev", *PARTS[part]],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=into,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # and with it a process group
        )
        try:
            status = None
            while status is None and not stop_requests:
                time.sleep(0.5)
                status = process.poll()
                sys.stdout.buffer.write(written.read())
                sys.stdout.flush()
        finally:
            end_group(process)
    return status, log.read_text(errors="replace")


def main():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has it
            signal.signal(number, lambda number, _: stop_requests.append(number))
    wanted = sys.argv[1:] or list(PARTS)
    if unknown := [part for part in wanted if part not in PARTS]:
        sys.exit(f"no such part: {', '.join(unknown)}; there are: {', '.join(PARTS)}")
    sources = [".", f":!{PAGE.relative_to(ROOT)}"]
    if git("status", "--porcelain", "--", *sources):
        sys.exit("commit first: docs/verified.md names the commit that was tested")
    commit = git("log", "-1", "--format=%h", "--", *sources)
    rows, below = read_page()
    left = [part for part in PARTS if part not in rows or rows[part][1] != commit]
    left.sort(key=lambda part: rows[part][0] if part in rows else "")  # its date
    left = sys.argv[1:] or left
    for number, part in enumerate(left, 1):
        print(f"== part {number} of {len(left)}: {part} (./dev {' '.join(PARTS[part])})", flush=True)
        began = time.monotonic()
        status, output = run(part)
        if stop_requests:
            sys.exit("stopped: ./dev verify goes on with this part")
        minutes = (time.monotonic() - began) / 60
        rows[part] = (datetime.date.today().isoformat(), commit, result_of(part, status, output), f"{minutes:.0f}")
        write_page(rows, below)
        print(f"== {part}: {rows[part][2]}, {minutes:.0f} min", flush=True)
    print(f"== {PAGE.relative_to(ROOT)}: {len(left)} parts run at {commit}" if left else f"== every part was run at {commit}")
    failed = [part for part in wanted if not passed(rows.get(part), commit)]
    for part in failed:
        print(f"== failed: {part}; ./dev verify '{part}' runs it again")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

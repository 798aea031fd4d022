#!/usr/bin/env python3
"""Command lines that a text proposes are pasted, also by root: what somebody else may have named (a path with $(...), backquotes or
quotes) stands in them as one quoted word. Checks each statement of host/ and rsp/ that has such a line with a hole: it goes through
pasteable() or join_words(), or the line is one of those below, whose holes no shell reads anything into. Run by ctest.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ("apt bzip2 cat cp file gdbserver getent gzip kill ldd ls lz4 mpicc mpirun mqbridge mv nsenter pgrep readelf rm squeue srun ssh "
            "sudo sysctl xz zstd").split()
# "ls -l {}", "on the node: kill -CONT {}", "mqbridge types make --mpi {} -o FILE"
LINE = re.compile(r"(?:^|[:;|&>] |\()(?:" + "|".join(PROGRAMS) + r")(?: +[^ {}]+)*? +[^ {}]*\{\}")
OPTION = re.compile(r"(?:^|[ :])(?:--(?:dll|image|mpirun|node|slurm|sysroot|targets|types) |core:)\{\}")

# Lines with a hole that needs no quotes, by the words before it.
NUMBERS = "a number"
CHECKED = "a name or number that was checked when it was read: letters, digits, dots, hyphens, underscores"
OWN = "mqbridge's own word"
LATER = "a line that its user fills in, with pasteable()"
TEXT = "no command line"
UNQUOTED = {
    " -d {} ": LATER,
    " -dc {} > core": LATER,
    "(now: {})": TEXT,
    "--mpirun {}": NUMBERS,
    "--slurm ": CHECKED,
    "apt install libopenmpi-dev    (": TEXT,
    "cat {}/wchan": NUMBERS,
    "core:{}: it names no": TEXT,
    "file {} device {}": TEXT,
    "file {} {}": TEXT,
    "gdbserver --once --attach :PORT {}": NUMBERS,
    "kill -CONT {}": NUMBERS,
    "mpirun -x LD_PRELOAD={} ...": LATER,
    "mqbridge doctor   {} on {}": TEXT,
    "mqbridge dump --mpirun {}": NUMBERS,
    "mqbridge dump local:{}": NUMBERS,
    "mqbridge dump: {} has no": TEXT,
    "mqbridge dump {} ...": OWN,
    "mqbridge has not spoken there": TEXT,
    "mqbridge help: ": TEXT,
    "mqbridge ranks --mpirun {}{}": CHECKED,
    "mqbridge run --timeout 10m --record-queues{}": LATER,
    "mqbridge types make --mpi": OWN,
    "mqbridge {}": TEXT,
    "squeue --noheader": CHECKED,
    "squeue names the nodes": TEXT,
    "srun --overlap --jobid={} -w {} true": CHECKED,
    "ssh -o BatchMode=yes {} true": CHECKED,
    "ssh -L {}:127.0.0.1:{}": NUMBERS,
    "ssh does not find the host: {}": TEXT,
}


def statements(text):
    """Each with the line on which it ends."""
    begin = 0
    for end in re.finditer(r"[;{}]\s*(?://[^\n]*)?\n", text):
        yield text.count("\n", 0, end.start()) + 1, text[begin:end.end()]
        begin = end.end()


def lines_with_holes(statement):
    joined = re.sub(r'"\s*\n\s*"', "", statement)
    texts = re.findall(r'"((?:[^"\\\n]|\\.)*)"', joined)
    return [text for text in texts if LINE.search(text) or OPTION.search(text)]


def main():
    assert lines_with_holes('fail("x", fmt::format("on the node: ls "\n    "-lL {}", path));'), "the search is broken"
    assert lines_with_holes('fmt::format("if you trust it: --dll {}", path);'), "the search is broken"
    found = 0
    faults = []
    used = set()
    for path in sorted(each for room in ("host", "rsp") for each in (ROOT / room).rglob("*.cpp")):
        for number, statement in statements(path.read_text()):
            for text in lines_with_holes(statement):
                found += 1
                known = [words for words in UNQUOTED if words in text]
                used.update(known)
                if not known and "pasteable(" not in statement and "join_words(" not in statement:
                    faults.append(f"{path.relative_to(ROOT)}:{number}: {text}: pasteable() quotes what stands in a command line")
    faults += [f"no text has '{words}' any more: take it out of the list" for words in sorted(set(UNQUOTED) - used)]
    if found < 30:
        faults.append(f"only {found} command lines were found: the search is broken")
    print(f"{found} command lines", *faults, sep="\n")
    return 1 if faults else 0


sys.exit(main())

#!/usr/bin/env python3
"""Checks the pages of the repository: each relative link and each anchor leads somewhere, each path
in backticks exists, and README.md has at most 150 lines. Pages that sources name exist, too. Run by
ctest.

A path in backticks is checked where it begins with a folder of the repository (`rsp/limits.h`,
`./docker/demo.sh`), where it is a folder's name (`support/`), and where it ends as the repository's
own sources do (`walk.cpp`). It may be a pattern (`rsp/guardian/*`), and relative to its page.

  check_links.py [ROOT]
"""
import fnmatch
import re
import sys
from pathlib import Path

MOST_README_LINES = 150
ROOMS = ("rsp", "host", "dll", "bench", "tests", "docker", "docs")
SOURCES = {".h", ".c", ".cpp", ".txt", ".cmake", ".py", ".sh"}
NAMED_PAGE = re.compile(r"[\w./-]+\.(?:md|schema\.json)\b")
NAMED_AS_SOURCE = re.compile(r"\.(h|c|cpp|cmake|md|py|sh|yaml|schema\.json)$")
FENCE = re.compile(r"^(`{3,}|~{3,})[^`]*\n.*?^\1 *$", re.M | re.S)
CODE = re.compile(r"(`+)(.+?)\1", re.S)
LINK = re.compile(r"\[(?:[^\][]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)")
REFERENCE = re.compile(r"^ *\[[^\]]+\]: *<?(\S+?)>?\s*$", re.M)
HEADING = re.compile(r"^#{1,6} +(.+?)[ #]*$", re.M)


def blanked(match):
    return re.sub(r"[^\n]", " ", match.group())


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    found = set()
    for heading in HEADING.findall(FENCE.sub(blanked, text)):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number = 0
        while (slug if number == 0 else f"{slug}-{number}") in found:
            number += 1
        found.add(slug if number == 0 else f"{slug}-{number}")
    return found


class Checker:
    def __init__(self, root):
        self.root = root
        self.faults = []
        self.links = 0
        self.paths = 0
        self.pages_named = 0
        self.files = [path.relative_to(root).as_posix()
                      for room in ROOMS for path in (root / room).rglob("*") if path.is_file()]
        self.names = {Path(file).name for file in self.files} | {path.name for path in root.iterdir()}
        self.folders = {folder.name for file in self.files for folder in Path(file).parents}
        self.anchors = {}

    def pages(self):
        found = [self.root / "README.md", self.root / "SECURITY.md"]
        return found + sorted(self.root / file for file in self.files if file.endswith(".md"))

    def check_page(self, page):
        text = page.read_text(encoding="utf-8")
        prose = FENCE.sub(blanked, text)
        outside_code = CODE.sub(blanked, prose)
        for pattern in (LINK, REFERENCE):
            # The text of a link may be code; what looks like a link within code is none.
            for match in pattern.finditer(outside_code):
                self.check_link(page, text, match)
        for match in CODE.finditer(prose):
            for word in match.group(2).split():
                self.check_path(page, text, match.start(), word.removeprefix("./").rstrip(",;:"))
        for match in FENCE.finditer(text):
            for word in re.findall(r"[\w./*-]+", match.group()):
                if word.removeprefix("./").startswith(tuple(f"{room}/" for room in ROOMS)):
                    self.check_path(page, text, match.start(), word.removeprefix("./").rstrip("."))

    def check_source(self, source):
        text = source.read_text(encoding="utf-8", errors="replace")
        for match in NAMED_PAGE.finditer(text):
            self.pages_named += 1
            page = match.group().lstrip("/")  # what comes before it may be a variable
            if not self.exists(source, page):
                self.fault(source, text, match.start(), f"there is no {page}")

    def check_link(self, page, text, match):
        target = match.group(1)
        if re.match(r"[a-z]+:", target):
            return
        self.links += 1
        path, _, anchor = target.partition("#")
        file = (page.parent / path) if path else page
        if not file.exists() or not file.resolve().is_relative_to(self.root):
            self.fault(page, text, match.start(), f"the link {target} leads to no file of the repository")
        elif anchor and file.suffix == ".md" and anchor not in self.anchors_of(file):
            self.fault(page, text, match.start(), f"{path or page.name} has no heading for the anchor #{anchor}")

    def anchors_of(self, file):
        if file not in self.anchors:
            self.anchors[file] = anchors(file.read_text(encoding="utf-8"))
        return self.anchors[file]

    def check_path(self, page, text, at, word):
        in_room = word.startswith(tuple(f"{room}/" for room in ROOMS))
        is_name = re.fullmatch(r"[\w.-]+", word) and NAMED_AS_SOURCE.search(word)
        is_folder = re.fullmatch(r"[\w-]+/", word)
        if not in_room and not is_name and not is_folder:
            return
        self.paths += 1
        if not self.exists(page, word):
            self.fault(page, text, at, f"there is no {word}")

    def exists(self, page, word):
        if "/" not in word:
            return word in self.names
        if word.index("/") == len(word) - 1:
            return word[:-1] in self.folders
        if "*" in word:
            return any(fnmatch.fnmatch(file, word) for file in self.files)
        return any((folder / word).exists() for folder in (self.root, page.parent))

    def fault(self, page, text, at, what):
        line = text.count("\n", 0, at) + 1
        self.faults.append(f"{page.relative_to(self.root)}:{line}: {what}")


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    checker = Checker(root)
    for page in checker.pages():
        checker.check_page(page)
    for file in checker.files:
        if Path(file).suffix in SOURCES:
            checker.check_source(root / file)
    lines = (root / "README.md").read_text(encoding="utf-8").count("\n")
    if lines > MOST_README_LINES:
        checker.faults.append(f"README.md: {lines} lines; more than {MOST_README_LINES} belong into docs/")
    if min(checker.links, checker.paths) < 50 or checker.pages_named < 10:
        checker.faults.append("hardly anything was found to check: the search is broken")
    for fault in checker.faults:
        print(fault, file=sys.stderr)
    print(f"{checker.links} links, {checker.paths} paths and {checker.pages_named} pages that sources name were checked")
    sys.exit(1 if checker.faults else 0)


main()

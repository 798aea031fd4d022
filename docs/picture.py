#!/usr/bin/python3
"""Draws what a terminal shows as SVG. docs/verdict.svg, the picture in README.md, is made so:

  docker/demo.sh build why --color always | docs/picture.py "mqbridge why" > docs/verdict.svg

Needs Debian's python3-rich.
"""

import io
import re
import sys

from rich.console import Console
from rich.text import Text

title = sys.argv[1]
text = sys.stdin.read().rstrip("\n")
lines = [f"$ {title}", *text.split("\n"), ""]
width = max(len(Text.from_ansi(line).plain) for line in lines)
console = Console(record=True, width=width + 1, file=io.StringIO(), force_terminal=True)
for line in lines:
    console.print(Text.from_ansi(line), soft_wrap=True, highlight=False)
svg = console.export_svg(title=title, unique_id="terminal")
# With fonts of the reader's own: a picture loads nothing. Without the ends of lines, which are words there.
svg = re.sub(r"@font-face \{.*?\}\s*|<!--.*?-->\s*|<text[^>]*>\n</text>", "", svg, flags=re.S)
print(svg.replace("Fira Code, monospace", "monospace").replace("<svg ", '<svg xml:space="preserve" '))

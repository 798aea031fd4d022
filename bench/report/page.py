"""The page: one file, no scripts, nothing from elsewhere; light and dark by the reader's system."""

from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --paper: #ffffff; --band: #f3f5f7; --rule: #d8dee4;
  --good: #116329; --bad: #a40e26;
  --cold: #56a0d8; --warm: #0b5cad; --second: #08306b; --page: #c77700; --none: #b3261e; --gdb: #7a3e9d;
  --lldb: #b0468f; --node: #2a7f62; --limit: #57606a;
  --h0: #e3f1e5; --h1: #c9e2f5; --h2: #fbe3b5; --h3: #f7c08a; --h4: #ee9365; --h5: #d4573f; --h6: #8c1c13; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa4af; --paper: #0f1318; --band: #181d24;
  --rule: #30363d; --good: #56d364; --bad: #ff8a80;
  --cold: #7cc0f0; --warm: #3d93ea; --second: #b7d9fb; --page: #f0a63a; --none: #ff7b72; --gdb: #c596ec;
  --lldb: #f092c8; --node: #5cc8a1; --limit: #aab3bd;
  --h0: #17402a; --h1: #174469; --h2: #5f4a10; --h3: #77430f; --h4: #8d3a1c; --h5: #a52c24; --h6: #d0312d; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto;
  max-width: 920px; padding: 28px 20px 60px; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 38px 0 4px; }
p { margin: 6px 0; max-width: 72ch; } .soft { color: var(--soft); font-size: 13.5px; }
table { border-collapse: collapse; width: 100%; margin: 12px 0; font-variant-numeric: tabular-nums; font-size: 13.5px; }
th { text-align: left; font-weight: 600; color: var(--soft); } th, td { padding: 5px 10px 5px 0;
  border-bottom: 1px solid var(--rule); vertical-align: top; } .number { text-align: right; white-space: nowrap; }
.yes, .no { font-weight: 600; white-space: nowrap; padding-left: 14px; } .yes { color: var(--good); }
.no { color: var(--bad); }
.scroll { overflow-x: auto; } svg { display: block; width: 100%; height: auto; margin: 8px 0 2px; }
details { margin-top: 10px; } summary { cursor: pointer; color: var(--soft); }
svg text { font: 12px system-ui, sans-serif; fill: var(--ink); } svg .tick { fill: var(--soft); }
svg .label { fill: var(--ink); font-size: 12.5px; } svg .legend { font-size: 12px; }
.grid { stroke: var(--rule); stroke-width: 1; } .axis { stroke: var(--soft); }
.line { fill: none; stroke: var(--c); stroke-width: 2; } .dashed { stroke-dasharray: 5 4; }
.mark { fill: var(--c); stroke: var(--paper); stroke-width: 1; }
.mark.hollow { fill: var(--paper); stroke: var(--c); stroke-width: 1.8; } .mark.faint { opacity: .45; r: 3; }
.whisker { stroke: var(--c); stroke-width: 1.6; } .fill { fill: var(--c); }
.box { fill: var(--c); fill-opacity: .18; stroke: var(--c); }
""" + "".join(f".s-{name} {{ --c: var(--{name}); }}\n" for name in
              ("cold", "warm", "second", "page", "none", "gdb", "lldb", "node", "limit")) + "".join(
    f".heat.h{step} {{ fill: var(--h{step}); }}\n" for step in range(7)) + """
svg text.heat-text { font-size: 12px; } svg text.t5, svg text.t6 { fill: #fff; }
"""


def section(title, words, picture):
    """Nothing where there is no picture: the run had nothing for it."""
    return f"<h2>{escape(title)}</h2>\n<p class=soft>{words}</p>\n{picture}\n" if picture else ""


def reach_table(rows):
    if not rows:
        return "<p>This run measured none of the figures.</p>"
    lines = ["<table><tr><th>figure<th>goal<th>measured<th></tr>"]
    for row in rows:
        note = f' <span class=soft>({escape(row.note)})</span>' if row.note else ""
        verdict = '<td class=yes>reached' if row.reached else '<td class=no>not reached'
        lines.append(f"<tr><td>{escape(row.what)}{note}<td class=number>{escape(row.goal)}"
                     f"<td class=number>{escape(row.figure)}{verdict}</tr>")
    return "\n".join([*lines, "</table>"])


def medians_table(measurements, cell_text, time_text):
    lines = ["<div class=scroll><table><tr><th>cell<th>contender<th>dump<th>walk<th>quartiles of the walk"
             "<th>held<th>round trips<th>bytes<th>runs</tr>"]
    for m in measurements:
        times = [time_text(value) if (value := m.median(name)) is not None else "" for name in
                 ("wall_ms", "walk_ms", "stopped_ms")]
        quartiles = m.quartiles("walk_ms")
        between = f"{time_text(quartiles[0])} – {time_text(quartiles[1])}" if quartiles else ""
        counts = [f"{value:,.0f}" if (value := m.median(name)) is not None else "" for name in
                  ("round_trips", "bytes")]
        if m.predicted:
            times[0] = f"~{time_text(m.predicted_ms)}"
        runs = m.error or ("predicted" if m.predicted else str(len(m.runs)))
        cells = [times[0], times[1], between, times[2], *counts, runs]
        lines.append(f"<tr><td>{escape(cell_text(m.cell))}<td>{escape(m.contender)}"
                     + "".join(f"<td class=number>{escape(text)}" for text in cells) + "</tr>")
    return "\n".join([*lines, "</table></div>"])


def page(title, body):
    return (f"<!doctype html>\n<html lang=en><head><meta charset=utf-8><title>{escape(title)}</title>\n"
            f'<meta name=viewport content="width=device-width, initial-scale=1">\n<style>{STYLE}</style></head>\n'
            f"<body>\n{body}\n</body></html>\n")


def standing_alone(picture):
    """An SVG file of a picture of the page, for pages that show no HTML of ours."""
    head, rest = picture.split(">", 1)
    style = STYLE + "svg { background: var(--paper); }" # it may stand on a dark page
    return f'{head} xmlns="http://www.w3.org/2000/svg"><style>{style}</style>{rest}\n'

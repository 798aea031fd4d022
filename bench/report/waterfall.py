"""A packet waterfall: each request of one dump from its sending to its answer, from mqbridge's --trace."""

import re
from dataclasses import dataclass
from html import escape

from svg import Chart, LinearScale, round_to

LINE = re.compile(r"\s*(\d+\.\d+) \S+ (->|<-) (.*)")
KINDS = (("s-warm", "memory", ("m", "x", "MultiMemRead", "vFile:pread")),
         ("s-page", "files and tables", ("vFile", "qXfer")),
         ("s-none", "stop and release", ("vAttach", "?", "D", "vCont", "c", "Hg", "qfThreadInfo", "qsThreadInfo")),
         ("s-gdb", "negotiation", ()))


@dataclass
class Exchange:
    request: str
    sent: float  # seconds
    answered: float
    answer_size: int


def exchanges(trace):
    """Requests with their answers, in order: a stub answers one after the other."""
    pending, done = [], []
    for line in trace:
        match = LINE.match(line)
        if not match:
            continue
        time, payload = float(match[1]), match[3]
        if match[2] == "->":
            pending.append((time, payload))
        elif pending and not payload.startswith("%"):
            sent, request = pending.pop(0)
            done.append(Exchange(request, sent, time, len(payload)))
    return done


def kind_of(request):
    for style, text, starts in KINDS:
        for start in starts:
            # One letter is a packet of its own only where an address or nothing follows.
            if request.startswith(start) and (len(start) > 1 or not request[1:2].isalpha() or
                                              request[1:2] in "0123456789abcdef"):
                return style, text
    return KINDS[-1][:2]


def waterfall(trace, most_rows=400):
    done = exchanges(trace)
    if not done:
        return None
    start = done[0].sent
    step = min(9.0, max(1.2, 420 / len(done)))
    shown = done[:most_rows]
    chart = Chart("Packets of one dump", "milliseconds since the first packet", "requests, in order",
                  height=round(62 + step * len(shown)))
    x = LinearScale((shown[-1].answered - start) * 1e3, chart.left, chart.right, round_to)
    chart.x_axis(x, grid=True)
    middle = (chart.top + chart.bottom) / 2
    chart.add(f'<text class="label" transform="translate(15,{middle:.0f}) rotate(-90)" text-anchor="middle">'
              f"{escape(chart.y_label)}</text>")
    kinds = {}
    for row, exchange in enumerate(shown):
        style, text = kind_of(exchange.request)
        kinds[style] = text
        begin, end = x((exchange.sent - start) * 1e3), x((exchange.answered - start) * 1e3)
        title = (f"{exchange.request[:80]}: {(exchange.answered - exchange.sent) * 1e3:.2f} ms, "
                 f"{exchange.answer_size} characters")
        chart.add(f'<rect class="fill {style}" x="{begin:.1f}" y="{chart.top + row * step:.1f}" '
                  f'width="{max(0.8, end - begin):.1f}" height="{max(0.9, step - 0.6):.1f}">'
                  f"<title>{escape(title)}</title></rect>")
    for style, text, _ in KINDS:
        if style in kinds:
            chart.legend(text, style)
    left_out = len(done) - len(shown)
    note = f" The first {most_rows} of {len(done)} requests." if left_out else ""
    return str(chart), f"{len(done)} requests.{note}"

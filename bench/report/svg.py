"""Plots as inline SVG: axes, marks, legends. Colours are CSS classes, so that the page decides about light and dark."""

import math
from html import escape

WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 84, 200, 14, 48


def seconds_text(ms):
    """A time as people say it."""
    for limit, factor, unit in ((1, 1e3, "µs"), (1e3, 1, "ms"), (60e3, 1e-3, "s"), (3600e3, 1 / 60e3, "min")):
        if ms < limit * 0.99995:
            return f"{round_to(ms * factor)} {unit}"
    return f"{round_to(ms / 3600e3)} h"


def decade_text(ms):
    """A time on an axis of decades: in seconds where it is long, so that one is ten times the other."""
    return f"{ms / 1e3:,.0f} s" if ms >= 1e3 else seconds_text(ms)


def round_to(value, digits=3):
    """Three digits, without zeros that say nothing."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    text = f"{value:.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def count_text(value):
    for factor, unit in ((1e6, "M"), (1e3, "k")):
        if value >= factor:
            return round_to(value / factor) + unit
    return round_to(value)


class LogScale:
    """From values to places, by their logarithm; `low` and `high` are widened to whole decades."""

    def __init__(self, values, start, end, text):
        positive = [value for value in values if value > 0] or [1]
        self.low = math.floor(math.log10(min(positive)))
        self.high = max(math.ceil(math.log10(max(positive))), self.low + 1)
        self._start, self._end, self._text = start, end, text

    def __call__(self, value):
        share = (math.log10(max(value, 10 ** self.low)) - self.low) / (self.high - self.low)
        return self._start + share * (self._end - self._start)

    def ticks(self):
        return [(self(10 ** power), self._text(10 ** power)) for power in range(self.low, self.high + 1)]


class LinearScale:
    def __init__(self, high, start, end, text):
        step = 10 ** math.floor(math.log10(high)) if high > 0 else 1
        for finer in (1, 2, 5):
            if high / (step / finer) >= 4:
                step /= finer
                break
        self._step, self._count = step, math.ceil(high / step) or 1
        self._start, self._end, self._text = start, end, text

    def __call__(self, value):
        return self._start + value / (self._step * self._count) * (self._end - self._start)

    def ticks(self):
        return [(self(i * self._step), self._text(i * self._step)) for i in range(self._count + 1)]


class OrdinalScale:
    """A place for each of the values that there are, at equal distances: an axis that begins with 0, or ends with none."""

    def __init__(self, values, start, end, text):
        self._values = list(values)
        self._step = (end - start) / max(1, len(self._values))
        self._start, self._text = start, text

    def __call__(self, value):
        return self._start + (self._values.index(value) + 0.5) * self._step

    def ticks(self):
        return [(self(value), self._text(value)) for value in self._values]


def marker(shape, x, y, style, title="", hollow=False):
    """A mark of a shape of its own, so that colour is not needed to tell it."""
    size = 4.6
    kind = f'class="mark {style}{" hollow" if hollow else ""}"'
    label = f"<title>{escape(title)}</title>" if title else ""
    if shape == "circle":
        return f'<circle {kind} cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}">{label}</circle>'
    corners = {
        "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
        "diamond": ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)),
        "up": ((0, -1.25), (1.2, 0.95), (-1.2, 0.95)),
        "down": ((0, 1.25), (1.2, -0.95), (-1.2, -0.95)),
        "cross": ((-1.2, -0.4), (-0.4, -0.4), (-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4),
                  (0.4, 0.4), (0.4, 1.2), (-0.4, 1.2), (-0.4, 0.4), (-1.2, 0.4)),
    }[shape]
    points = " ".join(f"{x + dx * size:.1f},{y + dy * size:.1f}" for dx, dy in corners)
    return f'<polygon {kind} points="{points}">{label}</polygon>'


class Chart:
    """A frame with axes; what is added is drawn above them."""

    def __init__(self, title, x_label, y_label, height=HEIGHT, right=RIGHT, left=LEFT):
        self.title, self.x_label, self.y_label = title, x_label, y_label
        self.left, self.right, self.top, self.bottom = left, WIDTH - right, TOP, height - BOTTOM
        self._height = height
        self._parts = []
        self._legend = []

    def add(self, part):
        self._parts.append(part)

    def legend(self, text, style, shape=None, dashed=False):
        self._legend.append((text, style, shape, dashed))

    def text(self, x, y, text, style="tick", anchor="middle"):
        """Each line of `text` below the one before."""
        for line, words in enumerate(str(text).split("\n")):
            self.add(f'<text class="{style}" x="{x:.1f}" y="{y + 14 * line:.1f}" text-anchor="{anchor}">'
                     f"{escape(words)}</text>")

    def x_axis(self, scale, grid=False):
        for x, text in scale.ticks():
            if grid:
                self.add(f'<line class="grid" x1="{x:.1f}" y1="{self.top}" x2="{x:.1f}" y2="{self.bottom}"/>')
            self.text(x, self.bottom + 17, text)
        self.text((self.left + self.right) / 2, self._height - 8, self.x_label, "label")
        self.add(f'<line class="axis" x1="{self.left}" y1="{self.bottom}" x2="{self.right}" y2="{self.bottom}"/>')

    def y_axis(self, scale):
        for y, text in scale.ticks():
            self.add(f'<line class="grid" x1="{self.left}" y1="{y:.1f}" x2="{self.right}" y2="{y:.1f}"/>')
            self.text(self.left - 7, y + 4, text, anchor="end")
        middle = (self.top + self.bottom) / 2
        self.add(f'<text class="label" transform="translate(15,{middle:.0f}) rotate(-90)" text-anchor="middle">'
                 f"{escape(self.y_label)}</text>")

    def line(self, points, style, dashed=False):
        if len(points) > 1:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            self.add(f'<polyline class="line {style}{" dashed" if dashed else ""}" points="{path}"/>')

    def whisker(self, x, y1, y2, style):
        self.add(f'<line class="whisker {style}" x1="{x:.1f}" y1="{y1:.1f}" x2="{x:.1f}" y2="{y2:.1f}"/>')

    def _legend_parts(self):
        x, y = self.right + 14, self.top + 8
        for text, style, shape, dashed in self._legend:
            if shape is None:
                yield f'<rect class="fill {style}" x="{x}" y="{y - 5}" width="18" height="10"/>'
            else:
                yield f'<line class="line {style}{" dashed" if dashed else ""}" x1="{x}" y1="{y}" x2="{x + 24}" y2="{y}"/>'
                if shape != "none":
                    yield marker(shape, x + 12, y, style)
            yield f'<text class="legend" x="{x + 30}" y="{y + 4}">{escape(text)}</text>'
            y += 20

    def __str__(self):
        return "\n".join([f'<svg viewBox="0 0 {WIDTH} {self._height}" role="img" aria-label="{escape(self.title)}">',
                          *self._parts, *self._legend_parts(), "</svg>"])

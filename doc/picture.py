"""Draw text with ANSI colours, read from stdin, as a terminal in SVG.

$ script -qc 'openstack trait-sched explain FLAVOR IMAGE 2>/dev/null' /dev/null |
      python doc/picture.py 'openstack trait-sched explain FLAVOR IMAGE' > FILE.svg
"""

import re
import sys
from xml.sax.saxutils import escape

CHAR, LINE, MARGIN = 8.4, 20, 16
COLORS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341"}
SIZE = "width='{0:.0f}' height='{1}' viewBox='0 0 {0:.0f} {1}'"
STYLE = "font-family='DejaVu Sans Mono, Menlo, Consolas, monospace' font-size='14'"
_CODE = re.compile(r"\x1b\[([\d;]*)m")


def spans(line):
    """Yield the parts of a line, each with its attributes in SVG."""
    codes = set()
    # Codes and texts take turns; a text comes first and last.
    for number, part in enumerate(_CODE.split(line)):
        if number % 2:
            new = set(part.split(";"))
            codes = codes | new if new - {"", "0"} else set()
        elif part:
            found = [f" fill='{COLORS[each]}'" for each in codes & COLORS.keys()]
            bold = [" font-weight='bold'"] if "1" in codes else []
            yield part, "".join((*found, *bold))


def drawn(line, row):
    """A line as an element; its width holds for any font."""
    parts = tuple(spans(line))
    width = sum(len(text) for text, _ in parts) * CHAR
    inner = "".join(f"<tspan{how}>{escape(text)}</tspan>" for text, how in parts)
    where = f"x='{MARGIN}' y='{MARGIN + LINE * (row + 0.7):.0f}'"
    return f"<text {where} textLength='{width:.1f}' xml:space='preserve'>{inner}</text>"


def picture(text):
    """The whole SVG."""
    lines = text.replace("\r", "").rstrip("\n").split("\n")
    widest = max(len(_CODE.sub("", line)) for line in lines)
    size = SIZE.format(widest * CHAR + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN)
    texts = (drawn(line, row) for row, line in enumerate(lines) if line)
    return "\n".join(
        (
            f"<svg xmlns='http://www.w3.org/2000/svg' {size}>",
            "<rect width='100%' height='100%' rx='8' fill='#161b22'/>",
            f"<g fill='#d0d7de' {STYLE}>",
            *texts,
            "</g>",
            "</svg>\n",
        )
    )


if __name__ == "__main__":
    sys.stdout.write(picture(f"$ {sys.argv[1]}\n{sys.stdin.read()}"))

"""Draw text with ANSI colours, read from stdin, as a terminal in SVG.

$ script -qc 'openstack trait-sched explain FLAVOR IMAGE 2>/dev/null' /dev/null |
      python doc/picture.py 'openstack trait-sched explain FLAVOR IMAGE' > FILE.svg
"""

import sys
from xml.sax.saxutils import escape

from ansi import plain, rows

CHAR, LINE, MARGIN = 8.4, 20, 16
COLORS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341"}
SIZE = "width='{0:.0f}' height='{1}' viewBox='0 0 {0:.0f} {1}'"
STYLE = "font-family='DejaVu Sans Mono, Menlo, Consolas, monospace' font-size='14'"


def drawn(parts, row):
    """A row as an element; its width holds for any font."""
    width = sum(len(text) for text, _ in parts) * CHAR
    inner = "".join(
        f"<tspan{attributes(codes)}>{escape(text)}</tspan>" for text, codes in parts
    )
    where = f"x='{MARGIN}' y='{MARGIN + LINE * (row + 0.7):.0f}'"
    return f"<text {where} textLength='{width:.1f}' xml:space='preserve'>{inner}</text>"


def attributes(codes):
    """The colour and the weight of a part in SVG."""
    colors = [f" fill='{COLORS[code]}'" for code in codes & COLORS.keys()]
    return "".join((*colors, *([" font-weight='bold'"] if "1" in codes else [])))


def picture(text):
    """The whole SVG."""
    lines = tuple(rows(text))
    widest = max(map(len, plain(text).splitlines()))
    size = SIZE.format(widest * CHAR + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN)
    texts = (drawn(parts, row) for row, parts in enumerate(lines) if parts)
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

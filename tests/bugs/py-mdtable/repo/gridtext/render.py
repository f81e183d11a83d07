"""Tables in the Markdown notation, with columns that line up."""

from .measure import clip, fill, width

SMALLEST = 3
RULES = {"left": ":%s-", "right": "-%s:", "center": ":%s:", None: "-%s-"}


def show(value):
    if value is None:
        return ""
    if isinstance(value, float):
        return "%.2f" % value
    return str(value).replace("|", "\\|").replace("\n", " ")


class Table:
    def __init__(self, *heads, align=None, limit=None):
        self.heads = [show(head) for head in heads]
        self.align = dict(align or {})
        self.limit = limit
        self.rows = []
        for name in self.align:
            if name not in self.heads:
                raise KeyError(name)

    def add(self, *values):
        if len(values) != len(self.heads):
            raise ValueError("%d values for %d columns" % (len(values),
                                                           len(self.heads)))
        cells = [show(value) for value in values]
        if self.limit:
            cells = [clip(cell, self.limit) for cell in cells]
        self.rows.append(cells)
        return self

    def side(self, column):
        """Numbers go to the right unless it is said otherwise."""
        head = self.heads[column]
        if head in self.align:
            return self.align[head]
        cells = [row[column] for row in self.rows if row[column]]
        numeric = cells and all(_is_number(cell) for cell in cells)
        return "right" if numeric else None

    def sizes(self):
        return [max([SMALLEST] + [width(row[i])
                                  for row in [self.heads] + self.rows])
                for i in range(len(self.heads))]

    def render(self):
        sizes = self.sizes()
        sides = [self.side(i) for i in range(len(sizes))]
        lines = [_line(self.heads, sizes, sides),
                 "|%s|" % "|".join(" %s " % (RULES[side] % ("-" * (size - 2)))
                                   for size, side in zip(sizes, sides))]
        lines += [_line(row, sizes, sides) for row in self.rows]
        return "\n".join(lines) + "\n"


def _line(cells, sizes, sides):
    filled = [fill(cell, size, side or "left")
              for cell, size, side in zip(cells, sizes, sides)]
    return "| %s |" % " | ".join(filled)


def _is_number(text):
    try:
        float(text.rstrip("%"))
    except ValueError:
        return False
    return True

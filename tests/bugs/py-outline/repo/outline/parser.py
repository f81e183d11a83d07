"""Parse an indented to-do outline.

    Groceries
      [x] milk
      [ ] bread
    House
"""

from .node import Node

BOXES = {"[ ]": False, "[x]": True, "[X]": True}


class OutlineError(ValueError):
    def __init__(self, lineno, message):
        super().__init__("line %d: %s" % (lineno, message))
        self.lineno = lineno


def measure(line):
    """Width of the indentation; a tab moves to the next multiple of 8."""
    width = 0
    for ch in line:
        if ch == " ":
            width += 1
        elif ch == "\t":
            width += 8 - width % 8
        else:
            break
    return width


def split_box(text):
    box = text[:3]
    if box in BOXES and text[3:4] in ("", " "):
        return BOXES[box], text[4:].strip()
    return None, text


def parse(text):
    root = Node("")
    stack = [(-1, root)]
    for lineno, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        width = measure(line)
        while stack[-1][0] > width:
            stack.pop()
        if stack[-1][0] == width:
            stack.pop()
        elif stack[-1][1].children and child_width(stack[-1]) != width:
            raise OutlineError(lineno, "indentation fits no level above")
        done, title = split_box(line.strip())
        node = stack[-1][1].append(title)
        node.done = done
        node.width = width
        stack.append((width, node))
    return root


def child_width(level):
    return level[1].children[0].width

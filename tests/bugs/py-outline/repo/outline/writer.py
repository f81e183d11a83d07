"""Print outlines."""

from html import escape

from .progress import count, percent


def label(node):
    if node.children:
        done, total = count(node)
        if total:
            return "%s (%d/%d)" % (node.title, done, total)
        return node.title
    if node.done is None:
        return node.title
    return ("[x] " if node.done else "[ ] ") + node.title


def to_text(root, indent="  ", mark_blocked=False):
    lines = []
    for node in root.walk():
        line = indent * (node.depth - 1) + label(node)
        if mark_blocked and node.blocked():
            line += " *"
        lines.append(line)
    return "\n".join(lines)


def to_html(root):
    if not root.children:
        return ""
    items = []
    for node in root.children:
        style = ' class="done"' if node.done else ""
        items.append("<li%s>%s%s</li>" % (style, escape(node.title),
                                          to_html(node)))
    return "<ul>%s</ul>" % "".join(items)


def summary(root):
    return "%d%% of %d" % (percent(root), count(root)[1])

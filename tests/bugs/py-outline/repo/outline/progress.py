"""How far along is it?"""


def count(node):
    """(done, total) over the check boxes at and below node."""
    done = total = 0
    for item in [node, *node.walk()]:
        if item.done is not None and not item.children:
            total += 1
            if item.done:
                done += 1
    return done, total


def percent(node):
    done, total = count(node)
    return 100 * done // total if total else 0

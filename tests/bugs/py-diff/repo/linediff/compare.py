"""Which lines two texts have in common."""

from collections import namedtuple

# old[old_start:old_end] became new[new_start:new_end]
Change = namedtuple("Change", "old_start old_end new_start new_end")


def _common(old, new):
    """Lengths of the longest common subsequences of all tails."""
    rows = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            if old[i] == new[j]:
                rows[i][j] = rows[i + 1][j + 1] + 1
            else:
                rows[i][j] = max(rows[i + 1][j], rows[i][j + 1])
    return rows


def compare(old, new):
    """The changes, in order; what is between them is the same."""
    rows = _common(old, new)
    changes = []
    i = j = 0
    start = None
    while i < len(old) or j < len(new):
        if i < len(old) and j < len(new) and old[i] == new[j]:
            if start:
                changes.append(Change(start[0], i, start[1], j))
                start = None
            i += 1
            j += 1
            continue
        start = start or (i, j)
        # Lines that went come before lines that are new.
        if j == len(new) or i < len(old) and rows[i + 1][j] >= rows[i][j + 1]:
            i += 1
        else:
            j += 1
    if start:
        changes.append(Change(start[0], i, start[1], j))
    return changes

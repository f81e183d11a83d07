"""The unified format of diff -u."""

from .compare import compare


def group(changes, context):
    """Changes whose context would touch or overlap share a hunk."""
    groups = []
    for change in changes:
        if groups and change.old_start - groups[-1][-1].old_end <= context:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def span(start, end):
    """"12,3", or "12" for one line; of no lines, the line before them."""
    length = end - start
    if length == 1:
        return str(start + 1)
    return "%d,%d" % (start + 1 if length else start, length)


def hunk(changes, old, new, context):
    first, last = changes[0], changes[-1]
    before = min(first.old_start, context)
    after = min(len(old) - last.old_end, context)
    yield "@@ -%s +%s @@" % (
        span(first.old_start - before, last.old_end + after),
        span(first.new_start - before, last.new_end + after))
    at = first.old_start - before
    for change in changes:
        for line in old[at:change.old_start]:
            yield " " + line
        for line in old[change.old_start:change.old_end]:
            yield "-" + line
        for line in new[change.new_start:change.new_end]:
            yield "+" + line
        at = change.old_end
    for line in old[at:at + after]:
        yield " " + line


def unified(old, new, name="file", context=3):
    """Lines of a patch; none when both are the same."""
    groups = group(compare(old, new), context)
    if not groups:
        return []
    lines = ["--- a/" + name, "+++ b/" + name]
    for changes in groups:
        lines.extend(hunk(changes, old, new, context))
    return lines

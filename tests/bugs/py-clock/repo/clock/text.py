"""From minutes since midnight to what people read."""


def show(total):
    hours = total // 24
    if hours > 23:
        raise ValueError("%d minutes are more than a day" % total)
    rest = total % 24
    return "%d:%02d" % (hours, rest)


def span(start, end):
    return show(start) + "-" + show(end)

"""From what people write to minutes since midnight."""


def parse(text):
    hours, _, minutes = text.strip().partition(":")
    if not minutes:
        raise ValueError("no minutes in %r" % text)
    return int(hours) * 60 + int(minutes)

"""Built-in filters: first argument is the value piped in."""


def default(value, other=""):
    return other if value in (None, "") else value


def join(value, separator=""):
    return separator.join(str(v) for v in value)


def pick(value, yes, no=""):
    return yes if value else no


def truncate(value, width, mark="..."):
    text = str(value)
    if len(text) <= width:
        return text
    return text[:max(width - len(mark), 0)] + mark


FILTERS = {
    "default": default,
    "join": join,
    "pick": pick,
    "truncate": truncate,
    "upper": lambda value: str(value).upper(),
    "length": len,
    "plus": lambda value, other: value + other,
}

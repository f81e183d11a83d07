"""Cut filter expressions apart without looking into calls and strings."""


def _walk(text):
    """Yield (position, character, depth, in a string?)."""
    depth = 0
    quote = ""
    for pos, ch in enumerate(text):
        if quote:
            yield pos, ch, depth, True
            if ch == quote:
                quote = ""
            continue
        if ch in "'\"":
            quote = ch
        elif ch == "(":
            depth += 1
        elif ch == ")":
            depth -= 1
        yield pos, ch, depth, False


def split_pipes(text):
    """'a|f(x|y)|g' -> ['a', 'f(x|y)', 'g']"""
    parts = []
    start = 0
    for pos, ch, depth, quoted in _walk(text):
        if ch == "|" and depth == 0 and not quoted:
            parts.append(text[start:pos].strip())
            start = pos + 1
    parts.append(text[start:].strip())
    return parts


def split_arguments(text):
    """'1, f(2, 3)' -> ['1', 'f(2, 3)']"""
    if not text.strip():
        return []
    parts = []
    start = 0
    for pos, ch, depth, quoted in _walk(text):
        if ch == "," and not quoted:
            parts.append(text[start:pos].strip())
            start = pos + 1
    parts.append(text[start:].strip())
    return parts

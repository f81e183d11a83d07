"""The bits of a file's mode."""

SETUID, SETGID, STICKY = 0o4000, 0o2000, 0o1000
READ, WRITE, EXECUTE = 4, 2, 1
ALL = 0o7777
SHIFT = {"u": 6, "g": 3, "o": 0}
SPECIAL = {"u": SETUID, "g": SETGID, "o": STICKY}


def spread(classes, permission):
    """The permission for each of the classes."""
    return sum(permission << SHIFT[c] for c in set(classes))


def of_class(mode, name):
    """The three permissions that one class has."""
    return mode >> SHIFT[name] & 7

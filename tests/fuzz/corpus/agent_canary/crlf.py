import a
assert a

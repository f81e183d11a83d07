import a
"""
never ends
assert 1

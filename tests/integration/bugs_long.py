#!/usr/bin/env python3
"""Every bug of tests/bugs: found and fixed, or honestly not."""
import bugs
import lib

bugs.main(lib.bug_names())

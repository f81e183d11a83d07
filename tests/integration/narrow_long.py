#!/usr/bin/env python3
"""Every row of narrow.py, those that compile, too."""
import narrow

narrow.main(list(narrow.ROWS))

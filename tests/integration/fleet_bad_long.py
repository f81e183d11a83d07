#!/usr/bin/env python3
"""The part of fleet_bad.py that waits for a time limit."""
import sys

sys.argv[1:] = ["overdue"]
import fleet_bad  # noqa: E402

fleet_bad.main()

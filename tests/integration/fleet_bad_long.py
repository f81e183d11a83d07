#!/usr/bin/env python3
"""The parts of fleet_bad.py that wait for time limits."""
import sys

sys.argv[1:] = ["overdue", "silent"]
import fleet_bad  # noqa: E402

fleet_bad.main()

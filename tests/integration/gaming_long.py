#!/usr/bin/env python3
"""All rows of the gaming suite; gaming.py plays one of each way."""
import gaming

gaming.main(["all"])

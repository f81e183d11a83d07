#!/usr/bin/env python3
"""All of several.py."""
import several

several.main(several.ALL)

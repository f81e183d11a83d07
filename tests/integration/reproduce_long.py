#!/usr/bin/env python3
"""All of reproduce.py."""
import reproduce

reproduce.main(reproduce.ALL)

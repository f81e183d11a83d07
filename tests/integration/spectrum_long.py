#!/usr/bin/env python3
"""All of spectrum.py."""
import spectrum

spectrum.main(spectrum.SPOILT)

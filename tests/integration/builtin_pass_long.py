#!/usr/bin/env python3
"""All of builtin_pass.py."""
import builtin_pass

builtin_pass.main(builtin_pass.ALL)

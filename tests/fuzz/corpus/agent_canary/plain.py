#!/usr/bin/env python3
"""Tests."""
from calc import (
    add,
    sub,
)
import os, \
    sys

assert add(1, 2) == 3
if __name__ == "__main__":
    main()
    print("ok")

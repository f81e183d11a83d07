#!/usr/bin/env python3
"""leak.py with 1,000 sandboxes."""
import os
import time

import leak

leak.main(1000, int(os.environ.get("SEED", time.time())))

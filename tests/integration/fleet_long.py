#!/usr/bin/env python3
"""fleet.py with 32 workers and 200 moments; SEED=n plays them again."""
import os
import time

import fleet

fleet.main(int(os.environ.get("MOMENTS", 200)),
           int(os.environ.get("SEED", time.time())))

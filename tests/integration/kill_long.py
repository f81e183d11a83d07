#!/usr/bin/env python3
"""kill_some.py with 200 moments each."""
import os
import time

import kill_some

kill_some.main(200, int(os.environ.get("SEED", time.time())))

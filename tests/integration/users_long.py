#!/usr/bin/env python3
"""The tests that `make test` runs as one user only, as root and as an ordinary
user (see lib.users).

    sudo python3 tests/integration/users_long.py
"""
import os
import subprocess
import sys

import lib

for name in ("cases_g", "container", "escape", "honest", "isolation", "limits",
             "network"):
    program = os.path.join(lib.TESTS, "integration", name + ".py")
    lib.check(subprocess.run([sys.executable, program],
                             env=dict(os.environ, FORAY_USERS="all")).returncode
              == 0, "%s as every user" % name)
lib.done()

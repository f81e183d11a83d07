#!/usr/bin/env python3
"""All of batch.py."""
import batch

batch.main(batch.ALL)

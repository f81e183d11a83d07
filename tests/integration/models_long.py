#!/usr/bin/env python3
"""All of models.py."""
import models

models.main(models.ALL)

"""What the client is told."""

import math


def limit_headers(rule, tokens, wait):
    headers = {
        "X-RateLimit-Limit": str(rule.burst),
        "X-RateLimit-Remaining": str(int(tokens)),
    }
    if wait > 0:
        headers["Retry-After"] = str(math.floor(wait / 1000))
    return headers

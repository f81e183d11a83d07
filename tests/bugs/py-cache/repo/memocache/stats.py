class Stats:
    def __init__(self):
        self.hits = 0
        self.misses = 0
        self.evictions = 0

    @property
    def ratio(self):
        asked = self.hits + self.misses
        return self.hits / asked if asked else 0.0

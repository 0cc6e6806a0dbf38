"""Random values that are equal on every machine and in every Python: only `random()` is guaranteed
to be stable, so all else is built on it."""

import random


class Dice:
    def __init__(self, seed):
        self._source = random.Random(seed)

    def chance(self, probability):
        return self._source.random() < probability

    def below(self, limit):
        return int(self._source.random() * limit)

    def between(self, low, high):
        """A whole number from low to high, both included."""
        return low + self.below(high - low + 1)

    def pick(self, items):
        return items[self.below(len(items))]

    def some(self, items, count):
        """`count` different items, in random order."""
        rest = list(items)
        return [rest.pop(self.below(len(rest))) for _ in range(min(count, len(rest)))]

    def weighted(self, items):
        """Early items come far more often than late ones."""
        return items[int(len(items) * self._source.random() ** 2.2)]

    def uuid(self):
        """A random UUID (RFC 9562 §5.4) in its usual text form."""
        octets = [self.below(256) for _ in range(16)]
        octets[6] = octets[6] & 0x0F | 0x40
        octets[8] = octets[8] & 0x3F | 0x80
        text = bytes(octets).hex()
        return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))

// The times of use of cache entries that are not stored yet.

import TarnStore
import Testing

@testable import Tarn

@Suite("Uses of cache entries")
struct CacheUsesTests {
    @Test("a use that was noted while the clock was ahead is replaced by the next one, and one of just now is not")
    func clockWasAhead() {
        let uses = CacheUses(), now = Timestamp(microseconds: 1_000_000_000_000_000)
        uses.note(1, usedAt: Timestamp(microseconds: now.microseconds + 2 * 86_400_000_000), now: now)
        uses.note(2, usedAt: now, now: now)
        #expect(uses.all == [1: now])
    }
}

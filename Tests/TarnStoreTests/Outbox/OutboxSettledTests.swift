// Records whose operations have reached the server: how long they are noted.

import TestSupport
import Testing

@testable import TarnStore

@Suite("Outbox: settled records")
struct OutboxSettledTests {
    @Test("records that were settled an hour ago may be forgotten")
    func forgotten() throws {
        let bed = try OutboxBed(), now = Timestamp.now, lifetime = OutboxEntryKey.settledLifetime
        func mayForget(_ age: Int64) throws -> Bool {
            let time = Timestamp(microseconds: now.microseconds - age)
            return try bed.store.read { $0.outbox.forgetsSettledRecords(since: time, at: now) }
        }
        try bed.update(17, ["title": .string("a")])
        #expect(try mayForget(lifetime))
        #expect(try !mayForget(lifetime - 1))
    }
}

import Foundation
import Testing

@testable import Tarn

@Suite("Outbox: pauses of APIs")
struct OutboxPausesTests {
    @Test("a pause ends after a minute at most, also if the clock is set back meanwhile")
    func clockSetBack() {
        var pauses = OutboxPauses(), now = Date(timeIntervalSince1970: 1_795_000_000)
        for _ in 0..<10 { pauses.note(["a": .failing("500")], without: [], at: now, 1) }
        #expect(pauses.names(at: now) == ["a"])
        #expect(pauses.names(at: now.addingTimeInterval(61)).isEmpty)
        now.addTimeInterval(-3600)
        #expect(pauses.names(at: now).isEmpty)
    }
}

// The validators of written records that a process remembers.

import TarnHTTP
import Testing

@testable import Tarn
@testable import TarnStore

@Suite("Outbox: the validators of written records")
struct KnownValidatorsTests {
    @Test("of ever more written records ten thousand are remembered at most, among them the newest")
    func limit() {
        let known = KnownValidators()
        var most = 0
        for number in 0...20_000 {
            known.set(
                "https://api.example/\(number)", Validators(etag: "\"\(number)\""), at: Timestamp(microseconds: 1))
            most = max(most, known.count)
        }
        #expect(most == KnownValidators.limit)
        let newest = (15_000...20_000).filter { known["https://api.example/\($0)"]?.validators.etag == "\"\($0)\"" }
        #expect(newest.count == 5001)
        #expect(known["https://api.example/0"] == nil)
    }

    @Test("a record that is written again and again stays")
    func rewritten() {
        let known = KnownValidators()
        var lost = 0
        for number in 0..<30_000 {
            known.set("https://api.example/\(number)", Validators(), at: Timestamp(microseconds: Int64(number)))
            if number > 0, known["https://api.example/same"] == nil { lost += 1 }
            known.set("https://api.example/same", Validators(etag: "\"\(number)\""), at: Timestamp(microseconds: 1))
        }
        #expect(lost == 0)
    }
}

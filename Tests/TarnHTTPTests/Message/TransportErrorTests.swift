// The text of errors.

import Testing

@testable import TarnHTTP

@Suite("Transport errors")
struct TransportErrorTests {
    @Test("the text of an error is one line, whatever the server has written")
    func oneLine() {
        let error = TransportError(
            .credentials, method: "POST", url: "https://a.example/token",
            detail: "returned 400: denied\r\nerror forged\u{1B}[2J\u{85}\u{2028}é")
        let escaped = #"denied\u{d}\u{a}error forged\u{1b}[2J\u{85}\u{2028}é"#
        #expect(error.description == "POST https://a.example/token: returned 400: \(escaped)")
    }
}

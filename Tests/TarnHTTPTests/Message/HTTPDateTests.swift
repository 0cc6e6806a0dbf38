// The dates of header fields, in all forms that a recipient must accept.

import Foundation
import Testing

@testable import TarnHTTP

@Suite("HTTP dates")
struct HTTPDateTests {
    static let now = Date(timeIntervalSince1970: 1_800_000_000)  // in 2027

    @Test(
        "the three forms of RFC 9110 §5.6.7 are the same moment",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "sun, 06 NOV 1994 08:49:37 gmt", "SUNDAY, 06-nov-94 08:49:37 GMT", "sun nOV  6 08:49:37 1994",
        ])
    func forms(_ text: String) {
        #expect(HTTPDate.parse(text, now: Self.now) == Date(timeIntervalSince1970: 784_111_777))
    }

    @Test("a year of two digits is at most 50 years ahead")
    func centuries() {
        #expect(
            HTTPDate.parse("Friday, 01-Jan-77 00:00:00 GMT", now: Self.now).map(HTTPDate.text)
                == "Fri, 01 Jan 2077 00:00:00 GMT")
        #expect(
            HTTPDate.parse("Saturday, 01-Jan-78 00:00:00 GMT", now: Self.now).map(HTTPDate.text)
                == "Sun, 01 Jan 1978 00:00:00 GMT")
    }

    @Test(
        "what is no date is none",
        arguments: [
            "", "0", "tomorrow", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun, 06 Foo 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 06 Nov 1994 08:49:37", "a b c d e f", "Sun, -1 Nov 1994 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT",
            "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06  Nov 1994 08:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 6 Nov 1994 08:49:37 GMT", "Sun,06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 +0000",
            "Sun, 06 Nov 1994 8:49:37 GMT",
            "Sun, 06 Nov 1994 08.49.37 GMT", "Son, 06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
            "Sunday, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 UTC", "Sunday, 6-Nov-94 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
            "Sun Nov 06 08:49:37 94",
            "Sun Nov  6 08:49:37 1994 ", "Sun Nov  6 08:49:37 1994 GMT", " Sun, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT\u{0}",
        ])
    func noDates(_ text: String) {
        #expect(HTTPDate.parse(text, now: Self.now) == nil)
    }

    @Test("every day of 400 years is written as it is read")
    func roundTrip() {
        for day in -146_097...146_097 where day % 7 == 0 {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400 + 86_399)
            guard HTTPDate.parse(HTTPDate.text(date), now: Self.now) == date else {
                Issue.record("\(HTTPDate.text(date))")
                return
            }
        }
        #expect(HTTPDate.text(Date(timeIntervalSince1970: 784_111_777)) == "Sun, 06 Nov 1994 08:49:37 GMT")
    }
}

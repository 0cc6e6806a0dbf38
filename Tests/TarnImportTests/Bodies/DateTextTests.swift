// Dates as they are sent: every format, and what it cannot express.

import TarnStore
import TestSupport
import Testing

@testable import TarnImport

@Suite("Dates in bodies")
struct DateTextTests {
    private static let noon = "2026-11-21T12:05:09Z"

    @Test(
        "each format writes what it reads",
        arguments: [
            ("rfc3339", "2026-11-21T12:05:09.25Z", #""2026-11-21T12:05:09.25Z""#),
            ("iso8601", noon, #""2026-11-21T12:05:09Z""#),
            ("http", noon, #""Sat, 21 Nov 2026 12:05:09 GMT""#), ("day", "2026-11-21T00:00:00Z", #""2026-11-21""#),
            ("seconds", noon, "1795262709"), ("seconds", "1969-12-31T23:59:58.5Z", "-1.5"),
            ("milliseconds", "1970-01-01T00:00:00.000001Z", "0.001"),
            ("microseconds", "1970-01-01T00:00:01Z", "1000000"),
            ("dd/MM/yyyy HH:mm:ss", noon, #""21/11/2026 12:05:09""#), ("d.M.yy", "2026-01-02T00:00:00Z", #""2.1.26""#),
            ("EEEE, MMMM d, yyyy h:mm:ss a", "2026-03-01T00:05:09Z", #""Sunday, March 1, 2026 12:05:09 AM""#),
            ("EEE MMM dd HH:mm:ss Z yyyy", noon, #""Sat Nov 21 12:05:09 +0000 2026""#),
            ("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "2026-11-21T12:05:09.25Z", #""2026-11-21T12:05:09.250Z""#),
            ("yyyy-MM-dd HH:mm:ss.S x", "2026-11-21T12:05:09.25Z", #""2026-11-21 12:05:09.25 +00""#),
            ("yyyy'年'MM'月'dd", "2026-11-21T00:00:00Z", #""2026年11月21""#),
            ("yyyy-MM-dd HH:mm z", "1960-02-29T23:59:00Z", #""1960-02-29 23:59 GMT""#),
        ])
    func formats(_ format: String, _ time: String, _ json: String) throws {
        #expect(try DateFormat(format).json(of: #require(Timestamp(time)))?.text == json)
    }

    @Test(
        "what a format cannot express exactly is not written",
        arguments: [
            ("day", noon), ("http", "2026-11-21T12:05:09.25Z"), ("dd/MM/yyyy HH:mm", noon),
            ("d.M.yy", "1926-01-02T00:00:00Z"),
            ("yyyy-MM-dd HH:mm:ss.SS", "2026-11-21T12:05:09.125Z"),
        ])
    func inexact(_ format: String, _ time: String) throws {
        #expect(try DateFormat(format).json(of: #require(Timestamp(time))) == nil)
    }

    @Test(
        "no year traps, and those beyond four digits are not written",
        arguments: [Int64.min, .max, -100_000_000_000_000_000])
    func extremes(_ microseconds: Int64) throws {
        let time = Timestamp(microseconds: microseconds)
        for format in ["rfc3339", "iso8601", "http", "day", "dd/MM/yy", "EEE d MMM yyyy h a"] {
            #expect(try DateFormat(format).json(of: time) == nil, "\(format)")
        }
        for unit in EpochUnit.allCases {
            #expect(unit.text(of: time).withBytes { unit.timestamp($0) } == time)
        }
    }
}

extension String {
    fileprivate func withBytes<Result>(_ body: (Bytes) -> Result) -> Result {
        var text = self
        return text.withUTF8 { body(Bytes($0)) }
    }
}

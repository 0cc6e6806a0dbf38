// Points in time and RFC 3339 (§5.6 and its examples in §5.8).

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Timestamps")
struct TimestampTests {
    @Test(
        "valid RFC 3339 is read exactly",
        arguments: [
            ("1970-01-01T00:00:00Z", Int64(0)),
            ("1985-04-12T23:20:50.52Z", 482_196_050_520_000),
            ("1996-12-19T16:39:57-08:00", 851_042_397_000_000),
            ("1990-12-31T23:59:60Z", 662_688_000_000_000),
            ("1990-12-31T15:59:60-08:00", 662_688_000_000_000),
            ("1937-01-01T12:00:27.87+00:20", -1_041_337_172_130_000),
            ("2026-11-21t01:19:00.25z", 1_795_223_940_250_000),
            ("2026-11-21 02:19:00.25+01:00", 1_795_223_940_250_000),
            ("1969-12-31T23:59:59.999999Z", -1),
            ("1969-12-31T23:59:59.9999999999Z", -1),
            ("1970-01-01T00:00:00.0000009Z", 0),
            ("1970-01-01T00:00:00.000001-00:00", 1),
            ("1970-01-01T00:00:00+23:59", -86_340_000_000),
            ("2000-02-29T00:00:00Z", 951_782_400_000_000),
            ("2024-02-29T12:00:00Z", 1_709_208_000_000_000),
            ("0000-01-01T00:00:00Z", -62_167_219_200_000_000),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
            ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
        ])
    func validTextIsRead(_ text: String, _ microseconds: Int64) {
        #expect(Timestamp(text)?.microseconds == microseconds)
    }

    @Test(
        "anything else is nil",
        arguments: [
            "", "2026", "2026-11-21", "2026-11-21T02:19:00", "2026-11-21T02:19Z", "2026-11-21T02:19:00.Z",
            "2026-11-21T02:19:00,5Z", "2026-11-21T24:00:00Z", "2026-11-21T23:60:00Z", "2026-11-21T23:59:61Z",
            "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z",
            "2026-04-31T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2100-02-29T00:00:00Z",
            "2026-11-21T02:19:00+24:00", "2026-11-21T02:19:00+01:60", "2026-11-21T02:19:00+0100",
            "2026-11-21T02:19:00+01",
            "2026-11-21T02:19:00Z ", " 2026-11-21T02:19:00Z", "2026-11-21T02:19:00ZZ", "2026-11-21T02:19:00+01:00Z",
            "2026-11-21X02:19:00Z", "26-11-21T02:19:00Z", "+2026-11-21T02:19:00Z", "-026-11-21T02:19:00Z",
            "2026-1-21T02:19:00Z", "2026-11-21T02:19:00.5", "2026-11-21T02:19:00.5+", "2026/11/21T02:19:00Z",
            "２０２６-11-21T02:19:00Z", "2026-11-21T02:19:00\0", "2026-11-21T02:19:0 Z", "2026-11-21T02:19:00-1:00",
        ])
    func invalidTextIsNil(_ text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test("no cut and no exchanged byte of a valid text ends the process")
    func parserIsTotal() {
        let text = Array("2026-11-21T02:19:00.25+01:00".utf8)
        for count in 0...text.count { _ = text.prefix(count).withUnsafeBytes { Timestamp(rfc3339: $0) } }
        for index in text.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = text
                changed[index] = byte
                _ = changed.withUnsafeBytes { Timestamp(rfc3339: $0) }
            }
        }
    }

    @Test(
        "the text form has a fraction only as long as it must be",
        arguments: [
            (Int64(0), "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59.999999Z"),
            (250_000, "1970-01-01T00:00:00.25Z"),
            (1, "1970-01-01T00:00:00.000001Z"), (951_782_400_000_000, "2000-02-29T00:00:00Z"),
            (-62_167_219_200_000_000, "0000-01-01T00:00:00Z"), (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
            (253_402_300_800_000_000, "+010000-01-01T00:00:00Z"),
            (-62_167_219_200_000_001, "-000001-12-31T23:59:59.999999Z"),
            (Int64.max, "+294247-01-10T04:00:54.775807Z"), (Int64.min, "-290308-12-21T19:59:05.224192Z"),
        ])
    func descriptionIsShortest(_ microseconds: Int64, _ text: String) {
        #expect(Timestamp(microseconds: microseconds).description == text)
    }

    @Test(
        "random points of the years 1 to 9999 agree with Foundation and come back from their text",
        arguments: [UInt64(61)])
    func agreesWithFoundation(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        for _ in 0..<3000 {
            let microseconds = Int64.random(in: -62_135_596_800_000_000...253_402_300_799_999_999, using: &random)
            let time = Timestamp(microseconds: microseconds)
            let text = time.description
            #expect(Timestamp(text) == time, "seed \(seed): \(text)")
            var seconds = microseconds >= 0 ? microseconds / 1_000_000 : (microseconds - 999_999) / 1_000_000
            var years = 0
            // Foundation's calendar is Julian before 1582, ISO 8601's is not; the Gregorian one
            // repeats itself after 400 years.
            while seconds < -12_000_000_000 {
                seconds += 146_097 * 86_400
                years += 400
            }
            let parts = calendar.dateComponents(
                [.year, .month, .day, .hour, .minute, .second], from: Date(timeIntervalSince1970: Double(seconds)))
            let expected = String(
                format: "%04d-%02d-%02dT%02d:%02d:%02d", (parts.year ?? 0) - years, parts.month ?? 0, parts.day ?? 0,
                parts.hour ?? 0, parts.minute ?? 0, parts.second ?? 0)
            #expect(text.hasPrefix(expected), "seed \(seed): \(microseconds)")
        }
    }

    @Test("every day of 400 years has its own date, in order")
    func everyDayOfACycle() {
        var previous = ""
        for day in Int64(0)..<146_097 {
            let text = Timestamp(microseconds: (day - 100_000) * 86_400_000_000).description
            if text <= previous { Issue.record("\(text) after \(previous)") }
            previous = text
        }
    }

    @Test("a time that is ahead of the present is earlier than one that is not; else the order of times counts")
    func later() {
        func time(_ seconds: Int64) -> Timestamp { Timestamp(microseconds: seconds * 1_000_000) }
        let now = time(1000)
        #expect(time(2).isLater(than: time(1), at: now) && !time(1).isLater(than: time(1), at: now))
        #expect(time(1).isLater(than: time(2000), at: now) && !time(2000).isLater(than: time(1), at: now))
        #expect(time(3000).isLater(than: time(2000), at: now) && !time(2000).isLater(than: time(3000), at: now))
        // Within a minute, a clock is right.
        #expect(time(1060).isLater(than: time(1000), at: now))
    }
}

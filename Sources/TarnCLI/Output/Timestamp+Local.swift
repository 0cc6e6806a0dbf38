import Foundation
import Tarn

extension Timestamp {
    /// The time as RFC 3339 text, in UTC or with the offset of the local time zone.
    ///
    /// A time that the C library cannot convert is in UTC.
    func text(isLocal: Bool) -> String {
        let utc = description
        guard isLocal else { return utc }
        var seconds = time_t(microseconds / 1_000_000 - (microseconds % 1_000_000 < 0 ? 1 : 0)), parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return utc }
        // RFC 3339 has offsets of whole minutes. Those from before standard time also have seconds.
        let offset = parts.tm_gmtoff / 60, minutes = abs(offset)
        seconds += offset * 60
        guard gmtime_r(&seconds, &parts) != nil, (0...9999).contains(Int(parts.tm_year) + 1900) else { return utc }
        func digits(_ number: Int, _ count: Int = 2) -> String {
            let text = "\(number)"
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        let fraction = utc.firstIndex(of: ".").map { utc[$0...].dropLast() } ?? ""
        return digits(Int(parts.tm_year) + 1900, 4) + "-" + digits(Int(parts.tm_mon) + 1) + "-"
            + digits(Int(parts.tm_mday)) + "T" + digits(Int(parts.tm_hour)) + ":" + digits(Int(parts.tm_min)) + ":"
            + digits(Int(parts.tm_sec)) + fraction + (offset < 0 ? "-" : "+") + digits(minutes / 60) + ":"
            + digits(minutes % 60)
    }
}

extension Timestamp {
    /// The text of the time, in whole seconds.
    func wholeSeconds(isLocal: Bool) -> String {
        let below = microseconds % 1_000_000
        let whole = microseconds.subtractingReportingOverflow(below < 0 ? below + 1_000_000 : below)
        return Timestamp(microseconds: whole.overflow ? microseconds : whole.partialValue).text(isLocal: isLocal)
    }
}

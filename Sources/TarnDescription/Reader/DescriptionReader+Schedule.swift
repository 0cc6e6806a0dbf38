// The keys `every` and `at` of an endpoint: when `tarn sync --watch` scans it.

import Tarn

extension DescriptionReader {
    /// Reads the schedule of an endpoint; nil if there is none.
    mutating func schedule(_ section: Section) -> SyncSchedule? {
        if section["every"] != nil, section["at"] != nil {
            report(section, "at", "every and at exclude each other: remove one of the two")
            return nil
        }
        if let text = text(section, "every") {
            if let seconds = DurationText.seconds(text) { return .every(seconds: seconds) }
            report(section, "every", "expected a duration such as 30s, 15m, 2h or 1d, at most 366d, found \"\(text)\"")
        }
        guard section["at"] != nil else { return nil }
        let texts = texts(section, "at")
        if texts.isEmpty, !isReported(section.path("at")) {
            report(section, "at", "missing time: write one, such as '03:00 UTC' or '03:00 local'")
        }
        let times = texts.compactMap { text, mark -> DailyTime? in
            if let time = DailyTime(text) { return time }
            report(
                section.path("at"), mark,
                "expected a time of the day such as '03:00 UTC' or '03:00 local', found \"\(text)\"")
            return nil
        }
        return times.isEmpty ? nil : .daily(times)
    }
}

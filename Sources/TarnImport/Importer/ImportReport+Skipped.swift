// The records and the values of a response that were left out, as texts.

extension ImportReport {
    /// The number of skipped records, with the reasons: `skipped 2 records: without a usable key`.
    ///
    /// Nil if no record was skipped.
    package var skippedText: String? {
        guard skipped > 0 else { return nil }
        let reasons = ImportReport.skipReasons.compactMap { code, text -> (count: Int, text: String)? in
            let count = diagnosticGroups.reduce(0) { $0 + ($1.code == code ? $1.count : 0) }
            return count > 0 ? (count, text) : nil
        }
        let texts = reasons.count == 1 ? [reasons[0].text] : reasons.map { "\($0.count) \($0.text)" }
        return "skipped \(skipped) record\(skipped == 1 ? "" : "s")"
            + (texts.isEmpty ? "" : ": " + texts.joined(separator: ", "))
    }

    /// The number of values that were left out because they do not fit, and their fields:
    /// `left out 3 values that do not fit Issue.points, Issue.at: …`.
    ///
    /// Nil if all values fit. The stored values were kept.
    package var unfitText: String? {
        let groups = diagnosticGroups.filter { [.valueType, .relationshipType].contains($0.code) }
        let count = groups.reduce(0) { $0 + $1.count }
        guard count > 0 else { return nil }
        let fields = groups.map { $0.entity + ($0.field.map { ".\($0)" } ?? "") }
        return "left out \(count) value\(count == 1 ? "" : "s") that \(count == 1 ? "does" : "do") not fit "
            + fields.prefix(5).joined(separator: ", ")
            + (fields.count > 5 ? " and \(fields.count - 5) more field\(fields.count == 6 ? "" : "s")" : "")
            + ": what the store had was kept; declare other types, or a format"
    }

    private static let skipReasons: [(Diagnostic.Code, String)] = [
        (.keyMissing, "without a usable key"), (.entityUnknown, "of none of the kinds (otherwise: skip)"),
        (.notUnique, "with a unique value of another record"), (.hookInvalid, "made invalid by a hook"),
    ]
}

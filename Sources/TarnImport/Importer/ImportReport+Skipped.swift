// The reasons for skipped records, as a text.

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

    private static let skipReasons: [(Diagnostic.Code, String)] = [
        (.keyMissing, "without a usable key"), (.entityUnknown, "of none of the kinds (otherwise: skip)"),
        (.notUnique, "with a unique value of another record"), (.hookInvalid, "made invalid by a hook"),
    ]
}

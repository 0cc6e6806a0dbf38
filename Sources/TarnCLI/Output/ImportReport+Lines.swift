import Tarn

extension ImportReport {
    /// The diagnostics, one line for each kind; empty without any.
    var diagnosticLines: [String] {
        guard !diagnosticGroups.isEmpty else { return [] }
        var lines = ["Not imported as received:"]
        for group in diagnosticGroups.prefix(20) {
            lines.append("  \(group.count > 1 ? "\(group.count) times, the first: " : "")\(group.first)")
        }
        if diagnosticGroups.count > 20 {
            lines.append("  … and \(countText(diagnosticGroups.count - 20, "more kind"))")
        }
        return lines
    }

    /// The JSON fields that the description neither maps nor ignores; empty without any.
    var unmappedLines: [String] {
        guard !unmapped.isEmpty else { return [] }
        var lines = ["Unmapped JSON fields (map or ignore them):"]
        for path in unmapped.prefix(20) {
            lines.append("  \(path.entity): \(path.path)  (\(countText(path.count, "time")))")
        }
        if unmapped.count > 20 { lines.append("  … and \(countText(unmapped.count - 20, "more path"))") }
        return lines
    }

    /// The table of the counts of each entity; empty without any.
    static func entityLines(_ counts: [String: Counts]) -> [String] {
        let entities = counts.sorted { $0.key < $1.key }
        guard !entities.isEmpty else { return [] }
        var table = Table(
            ["entity", "created", "updated", "unchanged", "deleted", "older", "partial", "skipped"],
            rightAligned: Set(1...7))
        for (name, counts) in entities {
            table.add(
                [name]
                    + [
                        counts.created, counts.updated, counts.unchanged, counts.deleted, counts.older, counts.partial,
                        counts.skipped,
                    ]
                    .map { "\($0)" })
        }
        return table.lines(width: Output.summaryWidth)
    }

    /// Appends the counts of each entity as the member `entities` of an object.
    static func appendEntities(_ counts: [String: Counts], to text: inout String) {
        text += ",\"entities\":{"
        for (index, (name, counts)) in counts.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { text += "," }
            text.appendJSONString(name)
            text += ":{\"created\":\(counts.created),\"updated\":\(counts.updated),\"unchanged\":\(counts.unchanged)"
            text +=
                ",\"deleted\":\(counts.deleted),\"older\":\(counts.older),\"partial\":\(counts.partial),\"skipped\":\(counts.skipped)}"
        }
        text += "}"
    }
}

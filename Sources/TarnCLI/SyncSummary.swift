// What a sync did, in a few lines or as JSON.

import Tarn

struct SyncSummary {
    private let report: SyncReport
    private let records: [(entity: String, count: Int)]
    /// When the last complete walk of any endpoint ended.
    let completedAt: Timestamp?

    init(_ report: SyncReport, _ store: Store) {
        self.report = report
        var records: [(String, Int)] = [], completedAt: Timestamp?
        // A store that cannot be read any more has said so already.
        try? store.read { reader in
            for entity in reader.catalog.entities { records.append((entity.name, try reader.count(entity.name))) }
            try reader.forEachCheckpoint { _, checkpoint in
                if let time = checkpoint.completedAt, time > completedAt ?? Timestamp(microseconds: .min) { completedAt = time }
            }
        }
        self.records = records
        self.completedAt = completedAt
    }

    /// Records that were skipped because they have no usable key.
    var skipped: Int { report.report.skipped }

    var lines: [String] {
        var table = Table(
            ["endpoint", "pages", "304", "listed", "created", "updated", "unchanged", "seconds"], rightAligned: Set(1...7))
        for endpoint in report.endpoints where !endpoint.name.isEmpty {
            let imported = endpoint.report
            table.add([
                endpoint.name + (endpoint.isResumed ? " (resumed)" : ""), "\(endpoint.pages)", "\(endpoint.notModified)",
                "\(endpoint.listed)", "\(imported.created)", "\(imported.updated)", "\(imported.unchanged)",
                SyncSummary.seconds(endpoint.seconds),
            ])
        }
        var lines = table.lines(width: Output.width)
        let imported = report.report
        if imported.deleted > 0 { lines.append("\(imported.deleted) records were deleted: the answers say that they are no more") }
        if imported.older > 0 { lines.append("\(imported.older) records came in an older version than the stored one, and stay as they are") }
        let total = records.reduce(0) { $0 + $1.count }
        lines.append("store: \(total) records: " + records.map { "\($0.count) \($0.entity)" }.joined(separator: ", "))
        return lines
    }

    var warnings: [String] {
        let imported = report.report
        var lines: [String] = []
        if !imported.unmapped.isEmpty {
            lines.append("neither mapped nor under ignore:")
            for path in imported.unmapped.prefix(20) { lines.append("  \(path.entity): \(path.path)  (\(path.count) times)") }
            if imported.unmapped.count > 20 { lines.append("  … and \(imported.unmapped.count - 20) more paths") }
        }
        if imported.diagnosticCount > 0 {
            lines.append("\(imported.diagnosticCount) values could not be taken as they came:")
            for diagnostic in imported.diagnostics.prefix(10) { lines.append("  \(diagnostic)") }
            if imported.diagnosticCount > 10 { lines.append("  … and \(imported.diagnosticCount - 10) more") }
        }
        return lines
    }

    var json: String {
        var text = "{\"endpoints\":["
        for (index, endpoint) in report.endpoints.enumerated() {
            if index > 0 { text += "," }
            let imported = endpoint.report
            text += "{\"name\":"
            text.appendJSONString(endpoint.name)
            text += ",\"pages\":\(endpoint.pages),\"not_modified\":\(endpoint.notModified),\"listed\":\(endpoint.listed)"
            text += ",\"resumed\":\(endpoint.isResumed)"
            text += ",\"created\":\(imported.created),\"updated\":\(imported.updated),\"unchanged\":\(imported.unchanged)"
            text += ",\"deleted\":\(imported.deleted),\"older\":\(imported.older)"
            text += ",\"seconds\":\(SyncSummary.seconds(endpoint.seconds)),\"failures\":"
            append(endpoint.failures.map(\.description), to: &text)
            text += "}"
        }
        text += "],\"records\":{"
        for (index, entity) in records.enumerated() {
            if index > 0 { text += "," }
            text.appendJSONString(entity.entity)
            text += ":\(entity.count)"
        }
        text += "},\"diagnostics\":"
        append(report.report.diagnostics.map(\.description), to: &text)
        text += ",\"unmapped\":"
        append(report.report.unmapped.map { "\($0.entity): \($0.path)" }, to: &text)
        return text + "}"
    }

    private func append(_ list: [String], to text: inout String) {
        text += "["
        for (index, item) in list.enumerated() {
            if index > 0 { text += "," }
            text.appendJSONString(item)
        }
        text += "]"
    }

    /// Milliseconds are enough.
    private static func seconds(_ value: Double) -> String {
        let milliseconds = Int((value * 1000).rounded())
        let fraction = String(milliseconds % 1000)
        return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - fraction.utf8.count) + fraction
    }
}

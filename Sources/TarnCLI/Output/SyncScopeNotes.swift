// The notes after a sync that was limited.

import Tarn

/// Notes on the work that a dry run, a limit, or a sync of missing records has left, and on lists
/// that the description limits.
struct SyncScopeNotes {
    private let report: SyncReport
    private let scope: SyncScopeOptions
    /// Whether one of the endpoints can request only what has changed.
    private let hasSince: Bool

    /// - Parameter names: the endpoints that were synced; nil for all.
    init(_ report: SyncReport, _ scope: SyncScopeOptions, _ names: Set<String>?, _ description: Description) {
        self.report = report
        self.scope = scope
        hasSince = description.endpoints.contains { $0.incremental != nil && (names?.contains($0.name) ?? true) }
    }

    var lines: [String] {
        var lines: [String] = []
        if scope.dryRun {
            lines.append("dry run: the counts are what the first pages would change; nothing was stored")
        }
        let limited = report.endpoints.filter { $0.wasLimited || $0.leftOut > 0 }
        if !limited.isEmpty {
            let names = limited.map { endpoint in
                endpoint.name + (endpoint.leftOut > 0 ? " (\(countText(endpoint.leftOut, "further list")))" : "")
            }
            lines.append(
                (scope.dryRun ? "more to fetch: " : "stopped at --limit; the next sync continues: ")
                    + names.joined(separator: ", "))
        }
        if scope.since != nil, !hasSince {
            lines.append("--since has no effect: no endpoint that was synced declares `since`")
        }
        // The parents of a dry run's own pages are rolled back.
        let parentless = report.endpoints.filter {
            $0.pages == 0 && $0.ignored == 0 && !$0.wasFinished && $0.finishedParents == 0
                && $0.unchangedParents == 0
        }
        if scope.dryRun, report.failures.isEmpty, !parentless.isEmpty {
            lines.append(
                "not requested, because the store has no record that they are requested for: "
                    + parentless.map(\.name).joined(separator: ", "))
        }
        for endpoint in report.endpoints where endpoint.cutOff > 0 {
            lines.append(limitNote(endpoint.name, cutOff: endpoint.cutOff))
        }
        for endpoint in report.endpoints {
            if let since = endpoint.since { lines.append("\(endpoint.name): only changes since \(since)") }
        }
        for endpoint in report.endpoints where endpoint.unchangedParents > 0 {
            lines.append(
                "\(endpoint.name): \(countText(endpoint.unchangedParents, "list")) of unchanged records not requested")
        }
        for missing in report.missing {
            lines.append(
                "still missing: \(countText(missing.count, "record")) of \(missing.entity)"
                    + (missing.hasEndpoint
                        ? missing.tooLong > 0 ? ", \(missing.tooLong) with a key that is too long to be requested" : ""
                        : ": no endpoint requests one by its key (for_each: \(missing.entity), entity: \(missing.entity))")
            )
        }
        return lines
    }
}

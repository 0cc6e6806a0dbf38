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
}

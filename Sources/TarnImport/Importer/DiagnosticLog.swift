// The diagnostics of a unit: the first ones whole, all of them counted by group.

internal import TarnStore

/// Collects diagnostics without growing with the number of records.
struct DiagnosticLog {
    /// The first ones, ``limit`` at most.
    private(set) var diagnostics: [Diagnostic] = []
    private(set) var groups: [DiagnosticGroup] = []
    /// All of them, the ones beyond ``limit`` included.
    private(set) var count = 0
    var limit = ImportReport.diagnosticLimit
    private var positions: [DiagnosticGroup.Key: Int] = [:]

    /// Counts a diagnostic.
    ///
    /// - Returns: whether the diagnostic itself is kept, which ``add(_:)`` does: the first ones, and the first of each group.
    mutating func keepsNext(_ code: Diagnostic.Code, _ entity: String, _ field: String?) -> Bool {
        count += 1
        if let known = positions[DiagnosticGroup.Key(code: code, entity: entity, field: field)] {
            groups[known].count += 1
            return diagnostics.count < limit
        }
        return true
    }

    /// Keeps a diagnostic that ``keepsNext(_:_:_:)`` has counted.
    mutating func add(_ diagnostic: Diagnostic) {
        let group = DiagnosticGroup(diagnostic)
        if positions[group.key] == nil {
            positions[group.key] = groups.count
            groups.append(group)
        }
        if diagnostics.count < limit { diagnostics.append(diagnostic) }
    }

    mutating func removeAll() {
        guard count > 0 else { return }
        diagnostics.removeAll()
        groups.removeAll()
        positions.removeAll()
        count = 0
    }
}

// The diagnostics of a unit: the first ones in full, and counts of all by group.

/// A collection of diagnostics whose size does not grow with the number of records.
struct DiagnosticLog {
    /// The first diagnostics, at most ``limit``.
    private(set) var diagnostics: [Diagnostic] = []
    private(set) var groups: [DiagnosticGroup] = []
    /// The number of all diagnostics, including those beyond ``limit``.
    private(set) var count = 0
    var limit = ImportReport.diagnosticLimit
    private var positions: [DiagnosticGroup.Key: Int] = [:]

    /// Counts a diagnostic.
    ///
    /// - Returns: whether the caller must keep the diagnostic with ``add(_:)``: one of the first
    ///   ones, or the first of its group.
    mutating func keepsNext(_ code: Diagnostic.Code, _ entity: String, _ field: String?) -> Bool {
        count += 1
        if let known = positions[DiagnosticGroup.Key(code: code, entity: entity, field: field)] {
            groups[known].count += 1
            return diagnostics.count < limit
        }
        return true
    }

    /// Keeps a diagnostic that ``keepsNext(_:_:_:)`` counted.
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

// The removal of secrets from what an import tells about a response that repeats them.

extension Importer {
    /// Removes secrets from the texts about the current unit: diagnostics, unmapped paths, errors.
    ///
    /// The records keep them. Call this before the document is added.
    ///
    /// - Parameters:
    ///   - secrets: what the closure removes. Equal ones are removed once.
    ///   - conceal: returns a text without the secrets.
    package func conceal(_ secrets: some Hashable, _ conceal: @escaping (String) -> String) {
        concealers[AnyHashable(secrets)] = conceal
    }

    /// Returns an error of the current unit without secrets.
    package func concealed(_ error: ImportError) -> ImportError {
        guard !concealers.isEmpty else { return error }
        return switch error {
        case .invalidJSON(let reason, let offset, let path, let beginning):
            .invalidJSON(reason: reason, offset: offset, path: concealed(path), beginning: concealed(beginning))
        case .recordsNotFound(let path, let missing, let present):
            .recordsNotFound(path: path, missing: missing, present: present.map(concealed))
        case .notRecords(let path, let found): .notRecords(path: path, found: concealed(found))
        case .invalidColumns(let path, let reason): .invalidColumns(path: path, reason: concealed(reason))
        case .recordWithoutKey(let entity, let path, let key):
            .recordWithoutKey(entity: entity, path: concealed(path), key: key)
        default: error
        }
    }

    func concealed(_ text: String) -> String { concealers.values.reduce(text) { $1($0) } }

    func concealed(_ diagnostic: Diagnostic) -> Diagnostic {
        var diagnostic = diagnostic
        diagnostic.path = concealed(diagnostic.path)
        diagnostic.key = diagnostic.key.map(concealed)
        diagnostic.message = concealed(diagnostic.message)
        diagnostic.sample = diagnostic.sample.map(concealed)
        return diagnostic
    }

    /// Removes secrets from a report of the current unit.
    func conceal(in report: inout ImportReport) {
        guard !concealers.isEmpty else { return }
        report.diagnostics = report.diagnostics.map(concealed)
        for index in report.diagnosticGroups.indices {
            report.diagnosticGroups[index].first = concealed(report.diagnosticGroups[index].first)
        }
        for index in report.unmapped.indices { report.unmapped[index].path = concealed(report.unmapped[index].path) }
    }
}

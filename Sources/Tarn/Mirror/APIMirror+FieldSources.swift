// The sources of fields, compared at the end of a sync with those of the sync before.

extension APIMirror {
    /// Finds the fields that come from elsewhere than before, and notes the present sources.
    ///
    /// They are found again until a sync has succeeded, be it of some endpoints: it has named them.
    func noteSources(hasSucceeded: Bool) async throws -> [FormerValues] {
        let sources = FieldSources(description)
        let (note, former) = try store.read { (try $0.fieldSources, try sources.formerValues($0)) }
        let text = sources.text(after: note)
        guard text != note, hasSucceeded, !options.isDryRun, options.limit == nil else { return former }
        try await store.write(alone: true) { try $0.note(fieldSources: text) }
        return former
    }
}

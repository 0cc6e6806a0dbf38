// The sources of fields, compared at the end of a sync with those of the sync before.

extension APIMirror {
    /// Finds the fields that come from elsewhere than before, and notes the present sources.
    ///
    /// They are found again until a sync of the whole description has succeeded, or one of a watch,
    /// which syncs the endpoints one by one.
    func noteSources(isWhole: Bool) async throws -> [FormerValues] {
        let sources = FieldSources(description)
        let (note, former) = try store.read { (try $0.fieldSources, try sources.formerValues($0)) }
        let text = sources.text(after: note)
        let isNoted = text == note || options.isDryRun || options.limit != nil
        guard !isNoted, isWhole || options.isScheduled else { return former }
        try await store.write(alone: true) { try $0.note(fieldSources: text) }
        return former
    }
}

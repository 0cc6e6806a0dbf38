// The sources of fields, compared at the end of a sync with those of the sync before.

extension APIMirror {
    /// Finds the fields that come from elsewhere than before, and notes the present sources.
    ///
    /// They are found again until a sync has read pages to its end, even if some of its endpoints
    /// have failed: it has named them.
    func noteSources(after sync: SyncReport) async throws -> [FormerValues] {
        let sources = FieldSources(description)
        let (note, former) = try store.read { (try $0.access.settings.fieldSources, try sources.formerValues($0)) }
        let text = sources.text(after: note), failures = sync.failures
        let isRead = failures.isEmpty || sync.pages > 0 && !failures.contains(where: \.isInterruption)
        guard text != note, isRead, !options.isDryRun, options.limit == nil else { return former }
        try await store.write(alone: true) { try $0.access.settings.setFieldSources(text) }
        return former
    }
}

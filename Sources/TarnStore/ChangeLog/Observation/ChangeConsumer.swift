// One iteration over the changes of a store.

/// The changes that a stream delivers.
struct ChangeSource: Sendable {
    let store: Store
    /// The token to begin after, or the error of the attempt to read it.
    let start: Result<ChangeToken, any Error>
    /// The names of the entities; nil for all.
    let entities: [String]?
    /// Checks that the type of the records fits the store.
    let check: @Sendable (StoreReader) throws -> Void
}

/// A consumer of the change log, used by one task at a time.
final class ChangeConsumer: @unchecked Sendable {
    // The properties are used by the iterating task; while it waits for a page, by the queue.
    /// The number of entries that are examined without a pause, so that a cancelled task ends soon.
    private static let mostExamined = 20_000

    private var source: ChangeSource?
    private let limit: Int
    private var token: ChangeToken?
    private var signal: ObserverSignal?
    /// Whether the log may have changes that no signal announces.
    private var hasMore = true

    init(_ source: ChangeSource, limit: Int) {
        self.source = source
        self.limit = limit
    }

    deinit { finish() }

    private func finish() {
        if let signal { source?.store.observers.remove(signal) }
        signal = nil
        source = nil
    }

    /// Returns the next page with changes; nil after the task was cancelled.
    func next() async throws -> ChangePage? {
        do {
            guard let signal = try begin() else { return nil }
            while true {
                if !hasMore, await !signal.wait() { break }
                if Task.isCancelled { break }
                let page = try await read(signal)
                if Task.isCancelled { break }
                token = page.token
                hasMore = page.hasMore
                if !page.changes.isEmpty { return page }
            }
        } catch {
            finish()
            throw error
        }
        finish()
        return nil
    }

    /// Adds the consumer to the hub, the first time.
    private func begin() throws -> ObserverSignal? {
        guard let source, signal == nil else { return signal }
        token = try source.start.get()
        let signal = try source.store.read { reader in
            try source.check(reader)
            return try ObserverSignal(in: reader.access.state) { [names = source.entities] state in
                .changes(try names.map { Set(try $0.map { try state.entity($0).id }) })
            }
        }
        try source.store.observers.add(signal, to: source.store)
        self.signal = signal
        return signal
    }

    private func read(_ signal: ObserverSignal) async throws -> ChangePage {
        guard let source, var token else { throw CancellationError() }
        // Commits that do not concern the consumer may be trimmed by now. Within a commit, the
        // rest of it comes first.
        if token.isWhole, let passed = signal.takePassed(after: token.sequence) {
            token = ChangeToken(incarnation: token.incarnation, sequence: passed)
        }
        return try await withCheckedThrowingContinuation { [token, limit] continuation in
            source.store.observers.queue.async {
                continuation.resume(
                    with: Result {
                        try source.store.observers.requireFiles()
                        return try source.store.read {
                            try $0.changes(
                                since: token, of: source.entities, limit: limit, examining: ChangeConsumer.mostExamined)
                        }
                    })
            }
        }
    }
}

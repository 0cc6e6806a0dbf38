/// A sequence of changes: those since a token, then those of every later commit of any process.
///
/// It is returned by ``Store/changes(since:of:)-(_,R.Type)``.
///
/// - Every change is delivered once, in the order of the log. An iteration that resumes at the
///   ``ChangeEvent/token`` of an event continues with the next one, also within a commit.
/// - The log is read in pages, when they are requested. Memory does not depend on its length, nor
///   on the speed of the consumer. No thread waits with the consumer.
/// - Each iteration begins at the same token. It ends without an error when its task is cancelled.
///   It keeps the store open meanwhile.
/// - It throws ``ChangeLogError``: `.changesTrimmed`, `.otherIncarnation`, `.changesAhead`,
///   `.damagedChange`; `StoreError.unknownEntity`, and others if the record type does not fit the
///   store, or its files were removed or replaced. The iteration is over then.
public struct ChangeStream<Key: StoredKey>: AsyncSequence, Sendable {
    /// A change with the token after it.
    public typealias Element = ChangeEvent<Key>

    /// The number of changes that an iteration of events holds.
    private static var bufferSize: Int { 256 }

    let source: ChangeSource

    /// Creates an iteration.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(consumer: ChangeConsumer(source, limit: ChangeStream.bufferSize))
    }

    /// Returns the changes in pages, each with the token after it, for consumers that save their
    /// position with what they have done.
    ///
    /// A page has one change or more, and ends with a whole commit. Only a commit with more changes
    /// than the limit is divided. While ``ChangePage/hasMore`` is true, the next page follows
    /// without waiting.
    ///
    /// - Parameter limit: the maximum number of changes of a page.
    public func pages(limit: Int = 1000) -> some AsyncSequence<ChangePage, any Error> & Sendable {
        precondition(limit > 0, "the limit must be at least 1")
        return ChangePages(source: source, limit: limit)
    }

    /// One iteration.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let consumer: ChangeConsumer
        private var page: ChangePage?
        private var position = 0

        fileprivate init(consumer: ChangeConsumer) { self.consumer = consumer }

        /// Returns the next change; nil after the task was cancelled.
        ///
        /// - Throws: as ``ChangeStream`` describes. The iteration is over then.
        public mutating func next() async throws -> ChangeEvent<Key>? {
            guard !Task.isCancelled else { return nil }
            if page.map({ position >= $0.changes.count }) ?? true {
                page = nil
                page = try await consumer.next()
                position = 0
            }
            guard let page else { return nil }
            let change = page.changes[position], token = page.token(after: position)
            position += 1
            guard let key = Key(change.key) else {
                throw StoreError.wrongKey(entity: change.entity, expected: "\(Key.self)", found: "\(change.key)")
            }
            return ChangeEvent(change: change, key: key, token: token)
        }
    }
}

/// The pages of a ``ChangeStream``.
private struct ChangePages: AsyncSequence, Sendable {
    let source: ChangeSource
    let limit: Int

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(consumer: ChangeConsumer(source, limit: limit)) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let consumer: ChangeConsumer

        mutating func next() async throws -> ChangePage? { try await consumer.next() }
    }
}

extension ChangePage {
    /// The token after a change of the page.
    fileprivate func token(after position: Int) -> ChangeToken {
        guard position + 1 < changes.count else { return token }
        let change = changes[position], isLast = changes[position + 1].sequence != change.sequence
        return ChangeToken(
            incarnation: token.incarnation, sequence: change.sequence, ordinal: isLast ? .max : change.ordinal)
    }
}

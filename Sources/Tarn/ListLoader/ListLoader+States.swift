// The states of a list, as a sequence that follows its loads and the changes of the store.

import Foundation
import Locking
import TarnImport
import TarnStore

extension ListLoader {
    /// The state of the list now.
    ///
    /// - Throws: `StoreError` if the store cannot be read or the query cannot be answered.
    public var state: ListState<Value> {
        get throws {
            guard let state = try observed().state else { preconditionFailure("a first look has a state") }
            return state
        }
    }

    /// The state of the list, and each later one.
    ///
    /// A state is delivered if a load begins or ends, and if a commit of any process changes the
    /// list or one of its records. The sequence has no end: leave the loop, or cancel its task.
    ///
    /// Each state is made when it is requested: a slow loop skips states, and gets the newest one.
    ///
    /// The iteration throws `StoreError`, as a ``StoreObservation`` does, also if the store's files
    /// were removed or replaced.
    public var states: some AsyncSequence<ListState<Value>, any Error> & Sendable { ListStates(loader: self) }

    /// The values by which a state differs from the one before.
    struct Mark: Equatable {
        /// The metadata of the list's entry, beside the listed records; it is new with each change.
        var metadata: String?
        var activity: Int
        var records: [ListedRecord] = []
        var versions: [UInt64?] = []
    }

    /// The findings of the last look at the list.
    struct Look {
        var mark: Mark
        var list: StoredList?
    }

    /// Reads the state, unless it is the same as at the last look.
    ///
    /// The records of a list without a query are decoded only if one of them has changed.
    func observed(after last: Look? = nil) throws -> (state: ListState<Value>?, look: Look) {
        // Before the store: a load that ends in between is noticed by its activity.
        let status = activity.status
        return try client.store.read { reader in
            let view = try reader.access.responses.view(key.digest), metadata = view?.metadata
            let isKnown = metadata != nil && metadata == last?.mark.metadata
            let list = isKnown ? last?.list : view?.entry.flatMap { StoredList($0) }?.loaded
            var look = Look(mark: Mark(metadata: metadata, activity: status.version), list: list)
            var items: [Value] = []
            if let query {
                items = try self.items(of: query, without: list?.dropped ?? [], &look.mark, reader)
                guard look.mark != last?.mark else { return (nil, look) }
            } else if let list {
                look.mark.records = list.records
                look.mark.versions = try reader.access.versions(of: look.mark.records)
                guard look.mark != last?.mark else { return (nil, look) }
                items = try reader.records(Value.self, listed: look.mark.records)
            } else if look.mark == last?.mark {
                return (nil, look)
            }
            var state = ListState(
                items: items, isLoaded: list != nil, hasNext: list?.next != nil, hasPrevious: list?.previous != nil)
            state.noPrevious = list == nil ? "the list was never loaded" : list?.noPrevious
            state.lastSuccess = list.map { Date(timeIntervalSince1970: Double($0.loadedAt.microseconds) / 1_000_000) }
            (state.loading, state.failure, state.failed) = (status.loading, status.failure, status.failed)
            return (state, look)
        }
    }

    /// The items of a query, whose offset and limit do not count the records that were dropped.
    private func items(
        of query: TypedQuery<Value>, without dropped: [ListedRecord], _ mark: inout Mark, _ reader: StoreReader
    ) throws -> [Value] {
        let dropped = Set(dropped), root = reader.catalog.entity(Value.entity)?.root ?? 0
        var query = query.query, items: [Value] = []
        let limit = query.limit ?? .max
        var skipped = query.after == nil ? query.offset : 0
        if !dropped.isEmpty {
            query.offset = 0
            query.limit = query.limit.map { $0.addingSaturating(skipped).addingSaturating(dropped.count) }
        } else {
            skipped = 0
        }
        try reader.forEach(query) { record in
            guard items.count < limit else { return false }
            let listed = ListedRecord(entity: root, storageKey: record.key.storageKey)
            guard !dropped.contains(listed) else { return true }
            guard skipped == 0 else {
                skipped -= 1
                return true
            }
            mark.records.append(listed)
            mark.versions.append(record.version)
            items.append(try reader.decode(Value.self, from: record))
            return true
        }
        return items
    }
}

extension Int {
    fileprivate func addingSaturating(_ other: Int) -> Int {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}

/// The states of a list, each when it is requested.
private struct ListStates<Value: MappedRecord>: AsyncSequence, Sendable {
    let loader: ListLoader<Value>

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(observer: ListObserver(loader)) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let observer: ListObserver<Value>

        /// Returns the next state; nil after the task was cancelled.
        mutating func next() async throws -> ListState<Value>? { try await observer.next() }
    }
}

/// One iteration over the states of a list, used by one task at a time.
private final class ListObserver<Value: MappedRecord>: @unchecked Sendable {
    private let loader: ListLoader<Value>
    private var signals: AsyncStream<Void>.Iterator
    private var last: ListLoader<Value>.Look?
    private let id: UInt64
    private let following: Task<Void, Never>
    /// The error that ended the observation of the store: no later commit would be noticed.
    private let failure = Guarded<(any Error)?>(nil)

    init(_ loader: ListLoader<Value>) {
        self.loader = loader
        let (stream, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        signals = stream.makeAsyncIterator()
        id = loader.activity.add(signal)
        // The first state needs no signal.
        signal.yield()
        let commits = StoreObservation<Void>(ofLists: loader.client.store) { { _, _ in () } }
        following = Task { [failure] in
            do {
                for try await _ in commits { signal.yield() }
            } catch {
                // A look at the store may succeed all the same, if its files were replaced.
                failure.withLock { $0 = error }
                signal.finish()
            }
        }
    }

    deinit {
        following.cancel()
        loader.activity.remove(id)
    }

    func next() async throws -> ListState<Value>? {
        while !Task.isCancelled, await signals.next() != nil {
            let (state, look) = try loader.observed(after: last)
            last = look
            if let state { return state }
        }
        if !Task.isCancelled, let error = failure.withLock({ $0 }) { throw error }
        return nil
    }
}

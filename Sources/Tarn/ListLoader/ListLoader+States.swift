// The states of a list, as a sequence that follows its loads and the changes of the store.

import Foundation
import TarnImport
import TarnStore

extension ListLoader {
    /// The state of the list now.
    ///
    /// - Throws: `StoreError` if the store cannot be read or the query cannot be answered.
    public var state: ListState<Value> {
        get throws { try observed().state }
    }

    /// The state of the list, and each later one.
    ///
    /// A state is delivered if a load begins or ends, and if a commit of any process changes the
    /// list or one of its records. The sequence has no end: leave the loop, or cancel its task.
    ///
    /// Each state is made when it is requested: a slow loop skips states, and gets the newest one.
    public var states: some AsyncSequence<ListState<Value>, any Error> & Sendable { ListStates(loader: self) }

    /// The values by which a state differs from the one before.
    struct Mark: Equatable {
        var revision: Int
        var activity: Int
        var records: [ListedRecord]
        var versions: [UInt64?]
    }

    /// Reads the state, and what distinguishes it from others.
    func observed() throws -> (state: ListState<Value>, mark: Mark) {
        // Before the store: a load that ends in between is noticed by its activity.
        let status = activity.status
        return try client.store.read { reader in
            let list = try reader.access.responses.entry(of: key).flatMap { StoredList($0) }
            var mark = Mark(revision: list?.revision ?? 0, activity: status.version, records: [], versions: [])
            var items: [Value] = []
            if let query {
                let dropped = Set(list?.dropped ?? []), root = reader.catalog.entity(Value.entity)?.root ?? 0
                for record in try reader.fetch(query.query) {
                    let listed = ListedRecord(entity: root, storageKey: record.key.storageKey)
                    guard !dropped.contains(listed) else { continue }
                    mark.records.append(listed)
                    mark.versions.append(record.version)
                    items.append(try reader.decode(Value.self, from: record))
                }
            } else if let list {
                mark.records = list.records
                mark.versions = try reader.versions(of: mark.records)
                items = try reader.records(Value.self, listed: mark.records)
            }
            var state = ListState(
                items: items, isLoaded: list != nil, hasNext: list?.next != nil, hasPrevious: list?.previous != nil)
            state.noPrevious = list == nil ? "the list was never loaded" : list?.noPrevious
            state.lastSuccess = list.map { Date(timeIntervalSince1970: Double($0.loadedAt.microseconds) / 1_000_000) }
            (state.loading, state.failure, state.failed) = (status.loading, status.failure, status.failed)
            return (state, mark)
        }
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
    private var last: ListLoader<Value>.Mark?
    private let id: UInt64
    private let following: Task<Void, Never>

    init(_ loader: ListLoader<Value>) {
        self.loader = loader
        let (stream, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        signals = stream.makeAsyncIterator()
        id = loader.activity.add(signal)
        // The first state needs no signal.
        signal.yield()
        let commits = StoreObservation<Void>(ofLists: loader.client.store) { { _, _ in () } }
        following = Task {
            do {
                for try await _ in commits { signal.yield() }
            } catch {
                // The state throws the error, too.
                signal.yield()
            }
        }
    }

    deinit {
        following.cancel()
        loader.activity.remove(id)
    }

    func next() async throws -> ListState<Value>? {
        while !Task.isCancelled, await signals.next() != nil {
            let (state, mark) = try loader.observed()
            guard mark != last else { continue }
            last = mark
            return state
        }
        return nil
    }
}

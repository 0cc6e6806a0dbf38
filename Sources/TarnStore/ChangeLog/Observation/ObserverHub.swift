// The observers of a store in this process, and the thread that notifies them.
//
// The thread sleeps until `wake` is touched, by this process or another one. It reads the change
// log once for all observers, and marks those that the changes concern. The observers evaluate when
// their next result is requested. So the cost of a commit depends on its changes, not on the number
// of observers, and a slow observer gets the newest state, without a queue.

import Dispatch
import Foundation
internal import LMDB
import Locking

/// The observers of a store that is open in this process.
final class ObserverHub: Sendable {
    /// The interval of checks without a notification.
    ///
    /// A writer may have been killed between its commit and the touch, and some file systems do not
    /// notify.
    static let slowCheck = Duration.seconds(2)
    /// The maximum number of changes that are read one by one; beyond it all observers evaluate.
    private static let mostEntries = 10_000

    /// The changes that concern an observer.
    enum Interest: Sendable {
        case everything
        case entities(Set<UInt16>)
        case record(RecordPlace)
        /// The changes of entities, nil for all, for a consumer of the change log.
        case changes(Set<UInt16>?)
        /// Every commit, also one that changes no record but the list of a response.
        case lists
    }

    fileprivate struct Members: Sendable {
        var all: [ObjectIdentifier: ObserverSignal] = [:]
        var everything: [ObjectIdentifier: ObserverSignal] = [:]
        var byEntity: [UInt16: [ObjectIdentifier: ObserverSignal]] = [:]
        var byRecord: [RecordPlace: [ObjectIdentifier: ObserverSignal]] = [:]
        /// The numbers of observed records by root, and the number of changes of `byRecord`.
        var roots: [UInt16: Int] = [:], recordChanges: UInt64 = 0
        /// The consumers of the change log.
        var consumers: [ObjectIdentifier: ObserverSignal] = [:]
        var lists: [ObjectIdentifier: ObserverSignal] = [:]
        var watch: ObserverWatch?
    }

    /// Counts of events, for tests.
    struct Counters: Sendable, Equatable {
        var touches = 0
        var slowChecks = 0
        /// Evaluated results: observers of one query share one.
        var evaluations = 0
        /// Observed records whose aliases were looked up.
        var aliasLooks = 0
    }

    private let members = Guarded(Members())
    /// The error of the last check of the store's files, which were removed or replaced.
    private let failure = Guarded<LMDBError?>(nil)
    /// Evaluations that observers share, by key.
    let evaluations = Guarded<[EvaluationKey: WeakEvaluation]>([:])
    let counters = Guarded(Counters())
    private let replacedKeys = Guarded(ReplacedKeys())
    /// The check interval of the thread that is started next.
    let interval = Guarded(ObserverHub.slowCheck)
    /// The serial queue of evaluations: a thousand observers use at most one processor.
    let queue = DispatchQueue(label: "tarn.observe")

    /// The number of observers.
    var count: Int { members.withLock { $0.all.count } }
    /// Whether the thread runs.
    var isWatching: Bool { members.withLock { $0.watch != nil } }

    /// Adds an observer, and starts the thread with the first one.
    ///
    /// - Throws: `StoreError.lmdb` if the system refuses the thread: without it, no change would be
    ///   found. Errors of `read`.
    func add(_ signal: ObserverSignal, to store: Store) throws {
        let start = try store.read { try Look($0) }
        // A failure that an earlier thread has found may be over.
        if !isWatching { checkFiles(of: store) }
        let code: Int32 = members.withLock { members in
            if members.watch == nil {
                let watch = ObserverWatch(self, store, from: start, every: interval.withLock { $0 })
                let code = watch.start()
                guard code == 0 else { return code }
                members.watch = watch
            }
            members.change(signal, to: signal)
            return 0
        }
        guard code == 0 else { throw StoreError.file(store.path, code, operation: "thread") }
        // The thread may have seen a change of the catalog before it knew the observer. The store
        // has loaded that catalog by now: a read, which may fail, is not needed.
        let state = store.state
        if signal.isOutdated(in: state) { members.withLock { $0.renew(signal, in: state) } }
    }

    /// Renews the interests of the observers after a change of the catalog: an entity that was
    /// removed and added again has another id.
    private func renewInterests(in state: StoreState) {
        members.withLock { members in
            for signal in Array(members.all.values) where signal.isOutdated(in: state) {
                members.renew(signal, in: state)
            }
        }
    }

    func remove(_ signal: ObserverSignal) {
        let stopped: ObserverWatch? = members.withLock { members in
            members.change(signal, to: nil)
            guard members.all.isEmpty else { return nil }
            defer { members.watch = nil }
            return members.watch
        }
        stopped?.stop()
    }

    /// A state of the store: its incarnation, commit sequence and generation.
    struct Position: Equatable {
        var incarnation: String
        var sequence: UInt64
        var generation: UInt64

        init(_ reader: StoreReader) throws {
            incarnation = try reader.incarnation
            sequence = try reader.sequence
            generation = reader.access.state.generation
        }
    }

    /// A snapshot that the thread has looked at.
    struct Look: Equatable {
        var position: Position
        /// The last transaction: it may have changed no record, and the position is the same.
        var transaction: Int

        init(_ reader: StoreReader) throws {
            position = try Position(reader)
            transaction = reader.access.raw.id
        }
    }

    /// Marks the observers that the commits after an earlier look concern.
    ///
    /// - Returns: the snapshot that was read.
    func look(at store: Store, from last: Look) throws -> Look {
        try store.read { reader in
            let now = try Look(reader)
            guard now != last else { return now }
            if now.position.generation != last.position.generation { renewInterests(in: reader.access.state) }
            // Read after the snapshot was taken: a later observer evaluates in a later one.
            let members = members.withLock { $0 }
            for signal in members.lists.values { signal.mark() }
            guard now.position != last.position else { return now }
            let concerned = try concerned(reader, now.position, last.position, members)
            for signal in concerned.values { signal.mark() }
            for (id, signal) in members.consumers where concerned[id] == nil {
                signal.pass(from: last.position.sequence, to: now.position.sequence)
            }
            return now
        }
    }

    private func concerned(
        _ reader: StoreReader, _ now: Position, _ last: Position, _ members: Members
    ) throws -> [ObjectIdentifier: ObserverSignal] {
        let access = reader.access
        guard now.incarnation == last.incarnation, now.generation == last.generation, now.sequence > last.sequence,
            access.state.changeOptions.keepsChanges, try access.changes.trimmedSequence <= last.sequence
        else { return members.all }
        var result = members.everything, entities: Set<UInt16> = [], count = 0
        let replaced = try replacedKeys(of: members, access, now.incarnation)
        var rootOf: [UInt16: UInt16] = [:]
        // An update may have changed the entity of a record. The log has the new one only.
        var updatedRoots: Set<UInt16> = []
        try access.changes.forEachEntry(after: last.sequence, .max) { entry in
            count += 1
            if entities.insert(entry.entity).inserted {
                rootOf[entry.entity] = reader.catalog.entity(id: entry.entity)?.root
            }
            if let root = rootOf[entry.entity] {
                if entry.operation == .update { updatedRoots.insert(root) }
                if members.roots[root] != nil {
                    let place = RecordPlace(root: root, key: Array(entry.storageKey))
                    if let found = members.byRecord[place] { result.merge(found) { first, _ in first } }
                    for former in replaced[place] {
                        if let found = members.byRecord[former] { result.merge(found) { first, _ in first } }
                    }
                }
            }
            return count <= ObserverHub.mostEntries
        }
        guard count <= ObserverHub.mostEntries else { return members.all }
        for entity in reader.catalog.entities
        where updatedRoots.contains(entity.root) && members.byEntity[entity.id] != nil { entities.insert(entity.id) }
        for entity in entities {
            for kind in [entity] + reader.catalog.ancestors(of: entity) {
                if let found = members.byEntity[kind] { result.merge(found) { first, _ in first } }
            }
        }
        return result
    }

    private func replacedKeys(
        of members: Members, _ access: StoreAccess, _ incarnation: String
    ) throws -> ReplacedKeys {
        let counters = try access.outbox.counters
        guard !members.byRecord.isEmpty, counters.aliases > 0 else { return ReplacedKeys() }
        let state = ReplacedKeys.State(
            incarnation: incarnation, revision: counters.revision, observers: members.recordChanges)
        let known = replacedKeys.withLock { $0 }
        if known.isCurrent(state) { return known }
        self.counters.withLock { $0.aliasLooks += members.byRecord.count }
        let found = try ReplacedKeys(of: members.byRecord.keys, state, access)
        replacedKeys.withLock { $0 = found }
        return found
    }

    /// Marks all observers if the store's files were removed or replaced: nothing is written to
    /// them any more, and the observers would wait for ever.
    func checkFiles(of store: Store) {
        var found: LMDBError?
        do throws(LMDBError) { try store.environment.checkFiles("observe") } catch { found = error }
        failure.withLock { $0 = found }
        if found != nil { markAll() }
    }

    /// Throws the error of the last check of the store's files.
    func requireFiles() throws(StoreError) {
        if let failure = failure.withLock({ $0 }) { throw .lmdb(failure) }
    }

    /// Marks all observers after a failure to read the log: their evaluations report the error.
    func markAll() { for signal in members.withLock({ $0.all }).values { signal.mark() } }
}

extension ObserverHub.Members {
    /// Renews the interest of an observer, which may have been removed in the meantime.
    fileprivate mutating func renew(_ signal: ObserverSignal, in state: StoreState) {
        guard all[ObjectIdentifier(signal)] != nil else { return }
        change(signal, to: nil)
        signal.renew(in: state)
        change(signal, to: signal)
    }

    /// Adds an observer, or removes it.
    fileprivate mutating func change(_ signal: ObserverSignal, to new: ObserverSignal?) {
        let id = ObjectIdentifier(signal)
        all[id] = new
        switch signal.interest {
        case .everything: everything[id] = new
        case .lists: lists[id] = new
        case .changes(nil):
            consumers[id] = new
            everything[id] = new
        case .changes(let ids?):
            consumers[id] = new
            change(id, of: ids, to: new)
        case .entities(let ids): change(id, of: ids, to: new)
        case .record(let place):
            let before = byRecord[place] == nil
            byRecord[place, default: [:]][id] = new
            if byRecord[place]?.isEmpty ?? false { byRecord[place] = nil }
            guard (byRecord[place] == nil) != before else { break }
            recordChanges &+= 1
            let count = roots[place.root, default: 0] + (before ? 1 : -1)
            roots[place.root] = count > 0 ? count : nil
        }
    }

    private mutating func change(_ id: ObjectIdentifier, of entities: Set<UInt16>, to new: ObserverSignal?) {
        for entity in entities {
            byEntity[entity, default: [:]][id] = new
            if byEntity[entity]?.isEmpty ?? false { byEntity[entity] = nil }
        }
    }
}

// Does operations with a store and with the oracle, and compares the two after every commit.

import Foundation
import LMDB
import Locking
import TestSupport

@testable import TarnStore

/// The content of the store is wrong.
struct ModelFailure: Error, CustomStringConvertible {
    var description: String

    /// Keys and values have NULs, at which a line of a log may end, and are long.
    init(_ text: String) {
        description = ""
        for scalar in text.unicodeScalars.prefix(1000) {
            if scalar.value < 32 {
                description += "\\u{\(scalar.value)}"
            } else {
                description.unicodeScalars.append(scalar)
            }
        }
    }
}

/// One store, one oracle. For one thread at a time.
final class ModelRun: @unchecked Sendable {
    private let folder: TemporaryFolder
    private var open: Store?
    private(set) var oracle = Oracle()
    /// The number of operations that were started.
    private(set) var position = 0
    private var salt = 0
    private var counts: [String: Int] = [:]

    /// - Parameter keepsValues: whether the change log keeps values, and everything, so that it can
    ///   be replayed.
    init(keepsValues: Bool = false) throws {
        folder = try TemporaryFolder()
        open = try Forge.open(folder("s"), ModelSchema.schema)
        guard keepsValues else { return }
        try open?.setChangeValues(.all)
        try open?.setChangeRetention(.all)
    }

    /// A copy of the store as it is, under another name, opened.
    func copy(_ name: String) throws -> Store {
        try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: folder("s") + "/data.mdb", toPath: folder(name) + "/data.mdb")
        return try Forge.open(folder(name), ModelSchema.schema)
    }

    /// An empty store with the same schema.
    func empty(_ name: String) throws -> Store { try Forge.open(folder(name), ModelSchema.schema) }

    /// Lends a snapshot of the store.
    func read<Result>(_ body: (StoreReader) throws -> Result) throws -> Result { try store().read(body) }

    /// The number of rare events, by name.
    var outcomes: [String: Int] { oracle.denials > 0 ? counts.merging(["denied": oracle.denials]) { $1 } : counts }

    private struct Stop: Error {}

    private func store() throws -> Store {
        guard let open else { throw ModelFailure("the store is not open") }
        return open
    }

    /// - Throws: `ModelFailure`, or what the store should not have thrown.
    func step(_ operation: Operation) throws {
        position += 1
        try run(operation)
    }

    func run(_ operations: [Operation]) throws {
        for operation in operations { try step(operation) }
        try compareAll()
    }

    /// Repeats the operations that a failing test has printed.
    static func replay(_ text: String) throws { try ModelRun().run(Operation.parse(text)) }

    func compareAll() throws {
        let oracle = oracle
        try store().read { reader in try ModelChecks.compareAll(reader, oracle) }
    }

    private func run(_ operation: Operation) throws {
        switch operation {
        case .write(let steps, let end): try write(steps, end)
        case .group(let steps): try writeTogether(steps)
        case .deleteInSteps(let kind, let key, let step): try deleteInSteps(kind, key, step)
        case .scan(let kind, let from, let to, let reversed):
            let oracle = oracle
            try store().read { reader in try ModelChecks.scan(reader, oracle, kind, from, to, reversed) }
        case .reopen(let withSchema):
            open = nil
            open = try Forge.open(folder("s"), withSchema ? ModelSchema.schema : nil)
            try checkSequence()
        case .holdSnapshot(let inner): try holdSnapshot(inner)
        case .fill: try fill()
        case .addDictionaries: try addDictionaries()
        case .rewrite(let batch):
            let report = try store().rewrite(batch: batch)
            if report.rewritten > 0 { counts["rewritten", default: 0] += 1 }
            try checkSequence()
            try compareAll()
        case .compareAll: try compareAll()
        }
    }

    private func checkSequence() throws {
        let found = try store().sequence
        guard found == oracle.sequence else {
            throw ModelFailure("the commit sequence is \(found), not \(oracle.sequence)")
        }
    }

    // MARK: Writing

    private func write(_ steps: [Step], _ end: End) throws {
        var next = oracle
        next.begin()
        var dropped: [Place] = []
        var failure: (any StoreFailure)?
        do {
            try store().write { writer in
                if end == .dropDuplicates { writer.remembersRecords = true }
                for step in steps { try ModelSteps.apply(step, &writer, &next) }
                if end == .fail { throw Stop() }
                if end == .dropDuplicates {
                    for record in try writer.dropDuplicates() {
                        guard let root = writer.catalog.entity(id: record.entity)?.name,
                            let key = ModelKeys.pool(root).positions[record.storageKey]
                        else { throw ModelFailure("\(record) was dropped") }
                        dropped.append(Place(root: root, key: key))
                    }
                }
            }
        } catch is Stop {
            return try check(next, isKept: false)
        } catch let error as any StoreFailure {
            failure = error
        }
        if end == .dropDuplicates {
            if let failure { throw failure }
            let touched = Set(next.log.map(\.place))
            if dropped.isEmpty == next.violatesUniqueness() { throw ModelFailure("dropped: \(dropped)") }
            for place in dropped {
                guard next.before[place] != nil else { throw ModelFailure("\(place) was dropped, and had not changed") }
                next.restore(place)
            }
            if next.violatesUniqueness() {
                throw ModelFailure("values stand twice still, after \(dropped) was dropped")
            }
            counts["dropped", default: 0] += dropped.count
            next.commit()
            oracle = next
            return try check(next, isKept: true, touched: touched)
        }
        guard next.violatesUniqueness() else {
            if let failure { throw failure }
            next.commit()
            oracle = next
            count(next)
            return try check(next, isKept: true)
        }
        guard case StoreWriteError.notUnique? = failure else {
            throw ModelFailure("values stand twice, and \(failure.map { "\($0)" } ?? "nothing was thrown")")
        }
        counts["notUnique", default: 0] += 1
        try check(next, isKept: false)
    }

    /// Counts the rare effects of a write.
    private func count(_ done: Oracle) {
        if done.log.count(where: { $0.operation == 3 }) > 2 { counts["cascade", default: 0] += 1 }
        for (place, old) in done.before {
            guard let old, let new = done[place] else { continue }
            if old.kind != new.kind { counts["kind", default: 0] += 1 }
            if old.isPartial != new.isPartial { counts["completed", default: 0] += 1 }
            for (name, cell) in new.cells {
                guard case .references(let keys, _) = cell else { continue }
                let wasLong = old.references(name).count > 9
                if wasLong != (keys.count > 9) { counts[wasLong ? "shorter" : "longer", default: 0] += 1 }
            }
        }
    }

    /// Checks the records of a write, and its entries in the log.
    private func check(_ done: Oracle, isKept: Bool, touched: Set<Place>? = nil) throws {
        let oracle = oracle
        try checkSequence()
        let places = (touched ?? Set(done.before.keys)).sorted { ($0.root, $0.key) < ($1.root, $1.key) }
        let first = salt
        salt += places.count
        try store().read { reader in
            for (offset, place) in places.enumerated() {
                try ModelChecks.compare(reader, oracle, place, salt: first + offset)
            }
            guard isKept else { return }
            try ModelChecks.compareLog(reader, after: oracle.sequence - (done.log.isEmpty ? 0 : 1), done.log)
        }
    }

    /// The writes of several threads at once. Each changes its own record, so that only their
    /// versions depend on their order.
    private func writeTogether(_ steps: [Step]) throws {
        let store = try store(), first = oracle.sequence, group = DispatchGroup()
        let results = Guarded<[(step: Int, sequence: UInt64)]>([]), failures = Guarded<[any Error]>([])
        let start = oracle
        for (number, step) in steps.enumerated() {
            DispatchQueue.global().async(group: group) {
                do {
                    let sequence = try store.write { writer in
                        var own = start
                        own.begin()
                        try ModelSteps.apply(step, &writer, &own)
                        return writer.sequence
                    }
                    results.withLock { $0.append((number, sequence)) }
                } catch {
                    failures.withLock { $0.append(error) }
                }
            }
        }
        group.wait()
        if let failure = failures.withLock({ $0.first }) { throw failure }
        var next = oracle, expected: [UInt64: Int] = [:], touched: Set<Place> = []
        for (number, sequence) in results.withLock({ $0 }).sorted(by: { $0.step < $1.step }) {
            var own = next
            own.begin()
            try ModelSteps.apply(steps[number], &own)
            guard let place = own.before.keys.first else { continue }
            own.setVersion(place, sequence)
            own.commit()
            expected[sequence, default: 0] += 1
            touched.insert(place)
            next = own
        }
        next.begin()
        oracle = next
        guard expected.keys.sorted() == (0..<UInt64(expected.count)).map({ first + 1 + $0 }) else {
            throw ModelFailure("the sequences of a group behind \(first) are \(expected)")
        }
        try check(next, isKept: false, touched: touched)
    }

    private func deleteInSteps(_ kind: String, _ key: Int, _ step: Int) throws {
        var next = oracle
        next.begin()
        let expected = next.delete(kind, key), first = oracle.sequence
        do {
            let count = try store().delete(kind, ModelKeys.keys(ModelKind.named(kind).root)[key], step: step)
            let wanted = if case .deleted(let count) = expected { count } else { 0 }
            guard expected != .denied, count == wanted else { throw ModelFailure("\(count) records went: \(expected)") }
        } catch StoreWriteError.deleteDenied {
            guard expected == .denied else { throw ModelFailure("a delete in steps was denied: \(expected)") }
            oracle.denials += 1
            return try checkSequence()
        }
        if first + 1 < (try store().sequence) { counts["steps", default: 0] += 1 }
        // Each step is a commit; in which one a reference was taken out depends on them.
        try store().read { reader in
            let last = try reader.sequence
            for place in next.before.keys where next[place] != nil {
                let root = ModelKeys.keys(place.root)[place.key]
                guard let version = try reader.record(place.root, root)?.version, version > first, version <= last
                else {
                    throw ModelFailure("\(place) was not changed by a delete in steps")
                }
                next.setVersion(place, version)
            }
            next.logCount += try ModelChecks.log(reader, after: first).count
            next.sequence = last
        }
        let gone = next.log.filter { $0.operation == 3 }
        oracle = next
        try check(next, isKept: false)
        try store().read { reader in
            let found = try ModelChecks.log(reader, after: first).filter { $0.operation == 3 }
            guard Set(found) == Set(gone), found.count == gone.count else {
                throw ModelFailure("a delete in steps wrote \(found)")
            }
        }
    }

    // MARK: Dictionaries, snapshots and quotas

    /// The result of a training, which needs more rows than there are: rows are compressed from
    /// then on.
    private func addDictionaries() throws {
        let store = try store(), text = String(repeating: "Lorem ipsum xxxxxxxx \(position) ", count: 40)
        try store.inWriteTransaction { transaction, state in
            for entity in state.catalog.entities
            where entity.parent == nil && entity.compression != EntityDefinition.Compression.none {
                _ = try RowDictionary.add(Array(text.utf8), of: entity.id, transaction.raw, state.meta)
            }
        }
        try store.reload()
    }

    /// Holds a snapshot while others write, and then checks all of it: it has not changed.
    private func holdSnapshot(_ inner: [Operation]) throws {
        let before = oracle
        try store().read { reader in
            let done = DispatchSemaphore(value: 0), failure = Guarded<[any Error]>([])
            let thread = Thread {
                do {
                    for operation in inner { try self.run(operation) }
                } catch {
                    failure.withLock { $0.append(error) }
                }
                done.signal()
            }
            thread.stackSize = 4 << 20
            thread.start()
            done.wait()
            if let failure = failure.withLock({ $0.first }) { throw failure }
            try ModelChecks.compareAll(reader, before)
        }
    }

    private func fill() throws {
        let store = try store()
        let information = try store.environment.information()
        let quota = max(1 << 20, (information.lastPage + 1) * information.pageSize)
        try store.setQuota(quota)
        do {
            try store.write { writer in
                try writer.put("Label", "small", [.init("display", .string("small"))])
                try writer.put("Label", "large", [.init("note", .bytes(Array(repeating: 7, count: quota + 1 << 20)))])
            }
            throw ModelFailure("\(quota + 1 << 20) bytes were stored with a quota of \(quota)")
        } catch StoreWriteError.storeFull {
            counts["storeFull", default: 0] += 1
            try checkSequence()
            try compareAll()
        }
        try store.setQuota(4 * quota)
    }
}

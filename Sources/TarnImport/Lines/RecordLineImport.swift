// The import of a dump: into a new store with versions, or into an existing one as changes.

import Foundation
package import TarnStore

/// An import of the lines that `tarn inspect dump` writes.
package struct RecordLineImport {
    /// The result of an import.
    package struct Report: Sendable {
        /// The number of stored records by entity, in the order of the catalog.
        package fileprivate(set) var records: [(entity: String, count: Int)] = []
        /// The number of lines that were read.
        package fileprivate(set) var lines = 0
        /// The problems, at most the first hundred.
        package fileprivate(set) var problems: [(line: Int?, reason: String)] = []
        /// The number of all problems.
        package fileprivate(set) var problemCount = 0
        /// The line from which on nothing was imported; nil if the file was read to its end.
        package fileprivate(set) var stoppedAt: Int?
        /// The failure of the store that ended the import, after something was stored.
        package fileprivate(set) var failure: (any Error)?
        /// Whether something was stored; if not, the store is as before.
        package fileprivate(set) var isStored = false

        fileprivate mutating func add(_ line: Int?, _ reason: String) {
            problemCount += 1
            if problems.count < 100 { problems.append((line, reason)) }
        }

        fileprivate mutating func add(_ repetition: RecordDigests.Repetition) {
            add(repetition.line, "the record of line \(repetition.first) occurs twice")
        }
    }

    private struct Item {
        var line: Int
        var record: RecordLine
    }

    /// The bounds of a transaction.
    private struct Batch {
        var records: Int
        /// The size of the records as text.
        var bytes: Int

        /// Nobody waits for a new store, and each transaction writes many pages of indexes anew.
        static let ofNewStore = Batch(records: 20_000, bytes: 16 << 20)
        static let ofChanges = Batch(records: 2000, bytes: 8 << 20)
    }

    private let catalog: Catalog
    private let skipsProblems: Bool
    private var report = Report()
    private var counts: [String: Int] = [:]

    private init(_ catalog: Catalog, skipsProblems: Bool) {
        self.catalog = catalog
        self.skipsProblems = skipsProblems
    }

    // MARK: - A new store

    /// Imports lines into a new store, which appears when everything is in it.
    ///
    /// Records keep their versions, so that a dump of the new store equals the lines. The change
    /// log begins after them.
    ///
    /// - Parameter skipsProblems: Whether a store is made although lines have problems.
    /// - Throws: `StoreMaintenanceError.destinationExists`; errors of reading and writing.
    package static func create(
        _ path: String, _ catalog: Catalog, from lines: LineFile, skippingProblems skipsProblems: Bool = false
    ) throws -> Report {
        let restoration = try StoreRestoration(at: path, catalog: catalog, settings: [])
        do {
            var run = RecordLineImport(catalog, skipsProblems: skipsProblems), sequence: UInt64 = 1
            try run.forEachBatch(.ofNewStore, of: lines) { batch, run in
                for item in batch { sequence = max(sequence, item.record.version ?? 1) }
                try run.restore(batch, restoration)
            }
            guard run.report.problemCount == 0 || skipsProblems else {
                restoration.abandon()
                return run.report
            }
            try restoration.finish(sequence: sequence)
            run.report.isStored = true
            run.finish()
            return run.report
        } catch {
            restoration.abandon()
            throw error
        }
    }

    private mutating func restore(_ batch: [Item], _ restoration: StoreRestoration) throws {
        var problems: [(Int?, String)] = [], stored: [String] = []
        let dropped = try restoration.write { writer in
            for item in batch {
                let record = item.record
                do {
                    // Of two lines of a record, the first one counts.
                    if let entity = catalog.entity(record.entity), try writer.has(entity, record.key) {
                        problems.append((item.line, "\(record.entity) \(record.key) occurs twice"))
                        continue
                    }
                    _ = try writer.restore(
                        record.entity, record.key, record.fields, isPartial: record.isPartial,
                        version: record.version ?? 1)
                    stored.append(record.entity)
                } catch let error as StoreError where RecordLineImport.isOfLine(error) {
                    problems.append((item.line, error.description))
                }
            }
            return try writer.dropDuplicates()
        }
        for entity in stored { counts[entity, default: 0] += 1 }
        let items = dropped.isEmpty ? [:] : firstItems(batch)
        for record in dropped {
            let item = items[ListedRecord(entity: record.entity, storageKey: record.storageKey)]
            let name = item?.record.entity ?? catalog.entity(id: record.entity)?.name ?? "?"
            counts[name, default: 1] -= 1
            let holder = record.holder.withUnsafeBytes { RecordKey.describe(storageKey: $0) }
            problems.append((item?.line, "\(name) has the same \(record.index) as \(holder), which must be unique"))
        }
        for (line, reason) in problems { report.add(line, reason) }
    }

    /// The first item of each record.
    private func firstItems(_ batch: [Item]) -> [ListedRecord: Item] {
        let items = batch.compactMap { item in
            catalog.entity(item.record.entity).map {
                (ListedRecord(entity: $0.root, storageKey: item.record.key.storageKey), item)
            }
        }
        return Dictionary(items) { first, _ in first }
    }

    // MARK: - An existing store

    /// Imports lines into an open store: sets fields, keeps the others, and logs the changes.
    ///
    /// All lines are checked before the first change. Batches are transactions: if one contains a
    /// record that the store refuses, those before it are committed, and the report has the first
    /// line that is not. So it is if the store fails, such as on a full disk, or if the file
    /// changes.
    ///
    /// - Parameters:
    ///   - lines: The file, which is read twice.
    ///   - skipsProblems: Whether lines with problems are left out, also those that the store
    ///     refuses: their batch is divided until only they are left.
    /// - Throws: errors of reading and writing, `LineFile.Changed`; of a batch only if it is the
    ///   first.
    package static func merge(
        _ lines: LineFile, into store: Store, skippingProblems skipsProblems: Bool = false
    ) throws -> Report {
        var check = RecordLineImport(store.catalog, skipsProblems: skipsProblems)
        let digests = RecordDigests()
        try check.forEachBatch(.ofChanges, of: lines) { batch, _ in
            for item in batch {
                guard let entity = store.catalog.entity(item.record.entity) else { continue }
                try digests.add(
                    ListedRecord(entity: entity.root, storageKey: item.record.key.storageKey), line: item.line)
            }
        }
        // Of two lines of a record, the first one counts.
        var repeated = try digests.repetitions()[...]
        for line in repeated { check.report.add(line) }
        guard check.report.problemCount == 0 || skipsProblems else { return check.report }
        var run = RecordLineImport(store.catalog, skipsProblems: skipsProblems)
        try lines.rewind()
        try lines.requireUnchanged()
        try run.forEachBatch(.ofChanges, of: lines) { batch, run in
            let items = batch.filter { item in
                guard repeated.first?.line == item.line else { return true }
                run.report.add(repeated.removeFirst())
                return false
            }
            guard !items.isEmpty else { return }
            do {
                // The lines that were checked are those that were read a second time.
                try lines.requireUnchanged()
                try run.merge(items[...], into: store)
            } catch let error where !(error is Stopped) {
                guard run.report.isStored else { throw error }
                if error is LineFile.Changed { run.report.stoppedAt = items.first?.line }
                run.report.failure = error
                throw Stopped()
            }
        }
        run.finish()
        // The end that was read may not be the one that was checked.
        if run.report.stoppedAt == nil, run.report.failure == nil {
            do { try lines.requireUnchanged() } catch {
                guard run.report.isStored else { throw error }
                run.report.failure = error
            }
        }
        return run.report
    }

    /// The rest of the file is not read.
    private struct Stopped: Error {}

    private mutating func merge(_ batch: ArraySlice<Item>, into store: Store) throws {
        var line: Int?
        do {
            try store.write { writer in
                for item in batch {
                    let record = item.record
                    line = item.line
                    try writer.put(record.entity, record.key, record.fields, isComplete: !record.isPartial)
                }
                line = nil
            }
        } catch {
            guard let refusal = Refusal(error) else {
                // The first part of a divided batch may be stored.
                report.stoppedAt = report.stoppedAt ?? batch.first?.line
                throw error
            }
            guard skipsProblems else {
                report.add(line ?? refusal.line(in: batch), refusal.reason)
                report.stoppedAt = batch.first?.line
                throw Stopped()
            }
            guard batch.count > 1 else { return report.add(batch.first?.line, refusal.reason) }
            // The check of unique indexes at the end of a transaction does not tell the good lines.
            let middle = batch.startIndex + batch.count / 2
            try merge(batch[..<middle], into: store)
            return try merge(batch[middle...], into: store)
        }
        report.isStored = true
        for item in batch { counts[item.record.entity, default: 0] += 1 }
    }

    /// The refusal of a record by the store.
    private struct Refusal {
        let reason: String
        private let entity: String, keys: [String]

        /// Returns nil for errors that are not of a record.
        init?(_ error: any Error) {
            switch error {
            case let error as StoreError where RecordLineImport.isOfLine(error):
                (reason, entity, keys) = (error.description, "", [])
            case let error as StoreWriteError:
                reason = error.description
                switch error {
                case .notUnique(let entity, _, let keys): (self.entity, self.keys) = (entity, keys)
                case .keyCollision(let entity): (self.entity, keys) = (entity, [])
                default: return nil
                }
            default: return nil
            }
        }

        /// Returns the line of the last record that the refusal names.
        func line(in batch: ArraySlice<Item>) -> Int? {
            batch.last { $0.record.entity == entity && keys.contains($0.record.key.description) }?.line
        }
    }

    // MARK: - Lines

    private mutating func forEachBatch(
        _ most: Batch, of lines: LineFile, _ body: ([Item], inout RecordLineImport) throws -> Void
    ) throws {
        let parser = try JSONParser(depth: JSONParser.maximumDepth + RecordLine.levels)
        var batch: [Item] = [], bytes = 0
        do {
            while true {
                let line: String
                do {
                    guard let next = try lines.next() else { break }
                    line = next
                } catch is LineFile.NotUTF8 {
                    report.lines += 1
                    report.add(lines.number, "not valid UTF-8")
                    continue
                }
                report.lines += 1
                guard line.utf8.contains(where: { $0 > 0x20 }) else { continue }
                do {
                    let json = JSONValue(try parser.parse(text: line), Tape.root)
                    batch.append(Item(line: lines.number, record: try RecordLine(json, catalog, text: line)))
                } catch {
                    report.add(lines.number, "\(error)")
                    continue
                }
                bytes += line.utf8.count
                if batch.count >= most.records || bytes >= most.bytes {
                    try body(batch, &self)
                    (batch, bytes) = ([], 0)
                }
            }
            if !batch.isEmpty { try body(batch, &self) }
        } catch is LineFile.TooLong {
            report.add(lines.number + 1, "longer than \(LineFile.longestLine) bytes; it and all after it are not read")
        } catch is Stopped {}
        // The tape is stored in the parser's memory.
        withExtendedLifetime(parser) {}
    }

    private mutating func finish() {
        report.records = catalog.entities.map { ($0.name, counts[$0.name, default: 0]) }
    }

    private static func isOfLine(_ error: StoreError) -> Bool {
        switch error {
        case .unknownEntity, .unknownField, .wrongKey, .wrongType: true
        default: false
        }
    }
}

extension Catalog {
    /// Returns the catalog that a new store of a schema has.
    ///
    /// - Throws: the errors of `Store.open` for a schema that is not valid.
    package init(of schema: Schema) throws {
        let path = FileManager.default.temporaryDirectory.path + "/tarn-schema-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        self = try Store.open(at: path, schema: schema, options: Store.Options(durability: .volatile)).catalog
    }
}

// Tarn in the write cases.

import Foundation
import Tarn

extension Note: StoredRecord {
    static let entity = "Note"
    typealias Key = Int64
    enum Field: Int, RecordField { case id, title, author, state, comments, text }

    init(_ row: Row<Note>) throws(StoreError) {
        self.init(try row.get(.id))
        title = try row.get(.title)
        author = try row.get(.author)
        state = try row.get(.state)
        comments = try row.get(.comments)
        text = try row.get(.text)
    }

    func encode(into row: inout RowEncoder<Note>) {
        row.set(.id, id)
        row.set(.title, title)
        row.set(.author, author)
        row.set(.state, state)
        row.set(.comments, comments)
        row.set(.text, text)
    }
}

enum TarnWrites {
    /// Written before the clock starts, so that there is a dictionary if one is expected.
    private static let before = 2000

    static func schema(_ compression: EntityDefinition.Compression) -> Schema {
        Schema([
            EntityDefinition(
                "Note", key: ["id"],
                attributes: [AttributeDefinition("id", .int)] + ["title", "author", "state"].map { AttributeDefinition($0, .string) }
                    + [AttributeDefinition("comments", .int), AttributeDefinition("text", .string)],
                compression: compression)
        ])
    }

    static func open(_ path: String, _ compression: EntityDefinition.Compression) throws -> Store {
        let store = try Store.open(at: path, schema: schema(compression), options: Store.Options(durability: .full))
        try store.write(alone: true) { writer in for id in 1...before { try writer.put(Note(Int64(-id))) } }
        guard try store.trainDictionaries() == (compression == .none ? [] : ["Note"]) else {
            throw BenchmarkError("Tarn has not the dictionary that it should have")
        }
        return store
    }

    static func small(_ options: Options, _ compression: EntityDefinition.Compression) async throws -> SmallWriteMeasurement {
        let store = try open(options.store.path, compression), written = Counter()
        _ = Note.ready(0)
        let clock = ContinuousClock(), start = clock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<Note.tasks {
                group.addTask {
                    var id = Int64(task) * 10_000_000
                    while (clock.now - start) / .seconds(1) < Note.seconds {
                        let note = Note.ready(id)
                        try await store.write { writer in try writer.put(note) }
                        written.add()
                        id += 1
                    }
                }
            }
            try await group.waitForAll()
        }
        let seconds = (clock.now - start) / .seconds(1), rows = written.value
        return SmallWriteMeasurement(
            small: Double(rows) / seconds, stored: try count(store), written: rows, compression: compression.rawValue)
    }

    static func count(_ store: Store) throws -> Int { try store.read { try $0.count("Note") } - before }

    static func bulk(_ options: Options, _ compression: EntityDefinition.Compression) throws -> BulkWriteMeasurement {
        let rows = 10 * options.records
        var rates: [Double] = [], stored = 0
        for isShuffled in [false, true] {
            let path = options.store.path + (isShuffled ? "/random" : "/ascending")
            try FileManager.default.createDirectory(at: options.store, withIntermediateDirectories: true)
            let store = try open(path, compression), ids = Note.ids(rows, shuffled: isShuffled)
            var seconds = 0.0
            for first in stride(from: 0, to: rows, by: Note.rowsOfCommit) {
                let notes = ids[first..<min(first + Note.rowsOfCommit, rows)].map { Note($0) }
                seconds += try stopwatch {
                    try store.write(alone: true) { writer in _ = try writer.put(contentsOf: notes) }
                }
            }
            rates.append(Double(rows) / seconds)
            stored += try count(store)
        }
        return BulkWriteMeasurement(
            ascending: rates[0], random: rates[1], stored: stored, written: 2 * rows, compression: compression.rawValue)
    }
}

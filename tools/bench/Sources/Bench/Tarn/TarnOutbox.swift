// The cases of the outbox: changes that are queued durably, and changes that are sent.

import Foundation
import Tarn

/// The figures and checks of one run of `outbox.enqueue`.
struct EnqueueMeasurement: Encodable {
    /// Queued changes per second, each durable before its task continues.
    var enqueued: Double
    /// Records per second of `write.small`, measured directly before in the same process.
    var small: Double
    /// The operations in the outbox afterwards, and the number of changes that were queued.
    var stored: Int
    var written: Int
    var durability = "full"
    var compression = "zstd"
}

/// The figures of one run of `outbox.drain`.
struct DrainMeasurement: Encodable {
    var seconds: Double
    var requests: Int
    var durability = "full"
    var compression = "zstd"
}

enum TarnOutbox {
    /// As `commands.py`.
    static let requests = 10_000, atATime = 16

    private static func outbox(_ store: Store, base: String = "http://127.0.0.1:1", _ transport: any Transport) throws -> Outbox {
        var description = Description(
            file: "bench", storePath: store.path, api: APIDescription(base: base), schema: TarnWrites.schema(.zstd),
            mapping: Mapping(), endpoints: [])
        description.writes = ["Note": WriteRequests(update: WriteRequest("PATCH", "/notes/{id}"))]
        var options = Outbox.Options()
        options.concurrent = atATime
        return try APIClient(description, store: store, transport: transport).outbox(options: options)
    }

    /// Updates of records by 64 tasks, for as long as `write.small`, or until each record of a table
    /// of the size that `write.small` leaves was changed: each change is an operation of its own.
    static func enqueue(_ options: Options) async throws -> EnqueueMeasurement {
        let path = options.store.path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let small = try await TarnWrites.small(options.below("small"), .zstd)
        let store = try TarnWrites.open(path + "/queue", .zstd), written = Counter()
        let records = Int64(small.written / Note.tasks)
        for task in 0..<Int64(Note.tasks) {
            let notes = (0..<records).map { Note.ready(task * 10_000_000 + $0) }
            try await store.write(alone: true) { writer in _ = try writer.put(contentsOf: notes) }
        }
        let outbox = try outbox(store, CurlTransport())
        let clock = ContinuousClock(), start = clock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<Note.tasks {
                group.addTask {
                    var number: Int64 = 0
                    while (clock.now - start) / .seconds(1) < Note.seconds, number < records {
                        let key = RecordKey(Int64(task) * 10_000_000 + number)
                        try await outbox.update("Note", key, [.init("title", .string("changed \(number)"))])
                        written.add()
                        number += 1
                    }
                }
            }
            try await group.waitForAll()
        }
        let seconds = (clock.now - start) / .seconds(1), count = written.value
        return EnqueueMeasurement(
            enqueued: Double(count) / seconds, small: small.small, stored: try outbox.operations().count, written: count)
    }

    /// Sends 10,000 updates of as many records, each of which the server answers with 204.
    static func drain(_ options: Options) async throws -> DrainMeasurement {
        let store = try TarnWrites.open(options.store.path, .zstd)
        let notes = (0..<Int64(requests)).map { Note.ready($0) }
        try await store.write(alone: true) { writer in _ = try writer.put(contentsOf: notes) }
        var settings = CurlTransport.Options()
        settings.concurrencyPerHost = atATime
        let outbox = try outbox(store, base: options.base, CurlTransport(settings))
        try await store.write(alone: true) { writer in
            for number in 0..<Self.requests {
                try outbox.update(
                    "Note", RecordKey(Int64(number)), [.init("title", .string("changed \(number)"))], in: &writer)
            }
        }
        guard try outbox.operations().count == requests else { throw BenchmarkError("not every change was queued") }
        let clock = ContinuousClock(), start = clock.now
        let report = try await outbox.drain()
        let seconds = (clock.now - start) / .seconds(1)
        guard report.sent == requests, report.remaining.isEmpty else { throw BenchmarkError("not everything was sent: \(report)") }
        return DrainMeasurement(seconds: seconds, requests: report.sent)
    }
}

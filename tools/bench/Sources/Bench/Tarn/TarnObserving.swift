// The delay until another process notices a commit, the cost of waiting for one, and the cost of
// observers for a writer.

import Foundation
import Tarn

/// The figures and checks of one run of the observation cases.
struct ObservationMeasurement: Encodable {
    /// Median milliseconds from when a commit is acknowledged to when another process has the new
    /// state.
    var wake: Double
    /// The delay since the start of the write, including the commit.
    var wakeWithCommit: Double
    /// Milliseconds of processor time that an idle process with an observer takes a second.
    var idle: Double
    /// The rate of 64 writers with 1,000 observers in their process, over that without.
    var writers: Double
    /// The two rates, records a second, and how many results were delivered meanwhile.
    var alone: Double
    var observed: Double
    var delivered: Int
    var stored: Int
    var written: Int
    var durability = "full"
    var compression = "zstd"

    private enum CodingKeys: String, CodingKey {
        case wake, idle, writers, alone, observed, delivered, stored, written, durability, compression
        case wakeWithCommit = "wake_with_commit"
    }
}

enum TarnObserving {
    private static let commits = 200
    private static let idleSeconds = 6.0
    private static let observers = 1000
    /// None that a writer writes.
    private static let key: Int64 = 1_000_000_000_000
    /// Records of each writer.
    private static let records: Int64 = 32

    static func measure(_ options: Options) async throws -> ObservationMeasurement {
        let store = try TarnWrites.open(options.store.path, .zstd)
        let process = try await otherProcess(store, options.store.path)
        let rates = try await writers(store)
        return ObservationMeasurement(
            wake: process.wake, wakeWithCommit: process.wakeWithCommit, idle: process.idle,
            writers: rates.observed / rates.alone, alone: rates.alone, observed: rates.observed, delivered: rates.delivered,
            stored: try TarnWrites.count(store), written: Note.tasks * Int(records) + 1)
    }

    private static func now() -> Double {
        var time = timespec()
        // One clock for all processes.
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }

    // MARK: Another process

    private static func otherProcess(
        _ store: Store, _ path: String
    ) async throws -> (wake: Double, wakeWithCommit: Double, idle: Double) {
        let process = Process(), output = Pipe()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--observer", path]
        process.standardOutput = output
        try process.run()
        defer { process.terminate() }
        var lines = Lines(of: output.fileHandleForReading)
        guard lines.next() == "ready" else { throw BenchmarkError("the observing process does not begin") }
        var asked: [Double] = [], acknowledged: [Double] = []
        for number in 1...commits {
            // Long enough for the other process to wait again, at irregular distances from its slow
            // check.
            try await Task.sleep(for: .milliseconds(10 + number % 7))
            var note = Note.ready(key)
            note.comments = Int64(number)
            asked.append(now())
            try await store.write { [note] writer in try writer.put(note) }
            acknowledged.append(now())
        }
        // Lines of a number and when it was seen. A state that was passed over was seen with the
        // next one.
        var seen: [Double] = []
        while seen.count < commits, let line = lines.next() {
            let parts = line.split(separator: " ")
            guard parts.count == 2, let number = Int(parts[0]), let time = Double(parts[1]) else { break }
            while seen.count < number { seen.append(time) }
        }
        guard seen.count == commits, let idle = lines.next().flatMap(Double.init) else {
            throw BenchmarkError("the observing process saw \(seen.count) of \(commits) commits")
        }
        process.waitUntilExit()
        func median(_ from: [Double]) -> Double { zip(seen, from).map { $0 - $1 }.sorted()[commits / 2] }
        // An observer may have the state before the writer has its answer.
        return (max(0.001, median(acknowledged)), median(asked), idle)
    }

    /// The other process: prints when it has seen each state, then its processor time while nothing
    /// happened.
    static func observe(_ path: String) async throws {
        func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
        let store = try Store.open(at: path)
        for try await note in store.observe(Note.self, key) {
            guard let number = note.value?.comments else {
                say("ready")
                continue
            }
            say("\(number) \(now())")
            if number == Int64(commits) { break }
        }
        // Again, without further events.
        let waiting = Task { for try await _ in store.observe(Note.self, key) {} }
        try await Task.sleep(for: .seconds(1))
        let before = processorTime(), start = now()
        try await Task.sleep(for: .seconds(idleSeconds))
        say("\((processorTime() - before) / ((now() - start) / 1e3))")
        waiting.cancel()
    }

    /// The processor time of this process, in milliseconds.
    private static func processorTime() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func milliseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1e3 + Double(time.tv_usec) / 1e3 }
        return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime)
    }

    // MARK: Writers

    /// Alternately without and with observers, so that a slow moment of the machine hits both.
    private static func writers(
        _ store: Store
    ) async throws -> (alone: Double, observed: Double, delivered: Int) {
        let delivered = Counter()
        var rates: [[Double]] = [[], []]
        try await store.write(alone: true) { writer in
            for task in 0..<Note.tasks { for number in 0..<records { try writer.put(Note.ready(first(task) + number)) } }
        }
        for round in 0..<6 {
            let isObserved = round % 2 == 1
            let waiting = isObserved ? try await observing(store, delivered) : []
            rates[isObserved ? 1 : 0].append(try await rate(store, round))
            for task in waiting { task.cancel() }
            for task in waiting { _ = await task.result }
        }
        func median(_ rates: [Double]) -> Double { rates.sorted()[rates.count / 2] }
        guard delivered.value > 0 else { throw BenchmarkError("the observers saw nothing") }
        return (median(rates[0]), median(rates[1]), delivered.value)
    }

    /// The first record of a writer.
    private static func first(_ task: Int) -> Int64 { Int64(task) * 10_000_000 }

    /// Each observes a different record, about 16 of the 32 of each writer.
    private static func observing(_ store: Store, _ delivered: Counter) async throws -> [Task<Void, any Error>] {
        let begun = Counter()
        let tasks = (0..<observers).map { number in
            Task {
                var isFirst = true
                let key = first(number % Note.tasks) + Int64(number / Note.tasks)
                for try await _ in store.observe(Note.self, key) {
                    (isFirst ? begun : delivered).add()
                    isFirst = false
                }
            }
        }
        while begun.value < observers { try await Task.sleep(for: .milliseconds(5)) }
        return tasks
    }

    /// As `write.small`: tasks that each commit one record after the other, cyclically.
    private static func rate(_ store: Store, _ round: Int) async throws -> Double {
        let clock = ContinuousClock(), start = clock.now, done = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<Note.tasks {
                group.addTask {
                    var number: Int64 = 0
                    while (clock.now - start) / .seconds(1) < Note.seconds / 3 {
                        var note = Note.ready(first(task) + number % records)
                        // Content that was not there before, or nothing would be written.
                        note.comments = number &* 16 &+ Int64(round)
                        try await store.write { [note] writer in try writer.put(note) }
                        done.add()
                        number += 1
                    }
                }
            }
            try await group.waitForAll()
        }
        return Double(done.value) / ((clock.now - start) / .seconds(1))
    }
}

/// Lines of another process, as they come. Waiting for one blocks.
private struct Lines: IteratorProtocol {
    private let handle: FileHandle
    private var rest = Data()

    init(of handle: FileHandle) { self.handle = handle }

    mutating func next() -> String? {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
                rest = Data(rest[(end + 1)...])
                return line
            }
            let more = handle.availableData
            if more.isEmpty { return nil }
            rest += more
        }
    }
}

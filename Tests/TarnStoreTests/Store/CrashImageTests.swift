// The possible contents of the disk after a loss of power: everything written before the last
// barrier, and any part of the later writes, torn at sectors. Such images are made from a log of
// all writes and barriers of a process; each is opened, checked and written to.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import TarnStore

@Suite("Loss of power", .serialized, .timeLimit(.minutes(30)))
struct CrashImageTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// `TARN_SEED` repeats the choices of an earlier run.
    private static let seed = ProcessInfo.processInfo.environment["TARN_SEED"].flatMap { UInt64($0) } ?? 20_261_122
    /// `TARN_CRASHES` for more than continuous integration has time for. Sanitized code takes
    /// several times as long.
    private static let images =
        ProcessInfo.processInfo.environment["TARN_CRASHES"].flatMap { Int($0) } ?? (isSanitized ? 10 : 60)
    private static let sector = 512

    /// A line of the log of tools/faults/fault.c, `FAULT_WRITES`.
    enum Event {
        case write(offset: Int, bytes: [UInt8], isBarrier: Bool)
        case truncate(Int)
        case barrier
        /// An acknowledgement of the process: from now on the commit must be there.
        case acknowledged(Int)
    }

    /// Reads the log: u8 kind, u64 offset, u32 length, bytes.
    static func events(_ log: Data) throws -> [Event] {
        var events: [Event] = [], place = log.startIndex
        func number(_ count: Int) -> Int {
            defer { place += count }
            return (0..<count).reduce(0) { $0 | Int(log[place + $1]) << (8 * $1) }
        }
        while place + 13 <= log.endIndex {
            let kind = log[place]
            place += 1
            let offset = number(8), length = number(4)
            guard place + length <= log.endIndex else {
                throw WorkerProcess.Failure(description: "the log ends inside of an event")
            }
            let bytes = [UInt8](log[place..<place + length])
            place += length
            switch kind {
            case UInt8(ascii: "W"): events.append(.write(offset: offset, bytes: bytes, isBarrier: false))
            case UInt8(ascii: "D"): events.append(.write(offset: offset, bytes: bytes, isBarrier: true))
            case UInt8(ascii: "T"): events.append(.truncate(offset))
            case UInt8(ascii: "B"): events.append(.barrier)
            case UInt8(ascii: "A"):
                for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") where line.hasPrefix("ack 0 ")
                {
                    events.append(.acknowledged(Int(line.dropFirst(6)) ?? 0))
                }
            default: throw WorkerProcess.Failure(description: "the event \(kind)")
            }
        }
        return events
    }

    /// The content of a file after the events so far.
    struct File {
        var bytes: [UInt8] = []

        mutating func apply(_ event: Event) {
            switch event {
            case .write(let offset, let new, _): write(offset, new[...])
            case .truncate(let size):
                if size < bytes.count {
                    bytes.removeLast(bytes.count - size)
                } else {
                    bytes += Array(repeating: 0, count: size - bytes.count)
                }
            case .barrier, .acknowledged: break
            }
        }

        mutating func write(_ offset: Int, _ new: ArraySlice<UInt8>) {
            if bytes.count < offset + new.count {
                bytes += Array(repeating: 0, count: offset + new.count - bytes.count)
            }
            bytes.replaceSubrange(offset..<offset + new.count, with: new)
        }

        /// Some of the sectors that a write concerns.
        mutating func tear(_ offset: Int, _ new: [UInt8], _ random: inout SeededRandom) {
            var start = offset
            while start < offset + new.count {
                let end = min((start / CrashImageTests.sector + 1) * CrashImageTests.sector, offset + new.count)
                if Bool.random(using: &random) { write(start, new[start - offset..<end - offset]) }
                start = end
            }
        }
    }

    /// A file as it may be after a loss of power behind some event.
    static func image(_ events: ArraySlice<Event>, _ random: inout SeededRandom) -> File {
        let isBarrier = { (event: Event) in
            switch event {
            case .barrier, .write(_, _, true): true
            default: false
            }
        }
        let last = events.lastIndex(where: isBarrier).map { $0 + 1 } ?? events.startIndex
        var file = File()
        for event in events[..<last] { file.apply(event) }
        // In any order: a part written twice may have either content.
        for event in events[last...].shuffled(using: &random) {
            switch (event, Int.random(in: 0..<3, using: &random)) {
            case (.write(let offset, let bytes, _), 0): file.tear(offset, bytes, &random)
            case (_, 1): file.apply(event)
            default: break
            }
        }
        return file
    }

    private static func log(_ folder: TemporaryFolder, _ durability: String, _ transactions: Int) throws -> [Event] {
        let path = folder("logged"), log = folder("writes")
        let worker = try WorkerProcess(
            ["script", path, "\(transactions)", durability],
            environment: try FaultLibrary.environment(path, ["FAULT_WRITES": log]))
        let lines = try worker.lines()
        guard worker.end() == 0, lines.count == transactions else {
            throw WorkerProcess.Failure(description: "\(lines.suffix(3))")
        }
        let events = try events(try Data(contentsOf: URL(fileURLWithPath: log)))
        // The log is complete: applied, it gives the file.
        var file = File()
        for event in events { file.apply(event) }
        guard try [UInt8](Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb"))) == file.bytes else {
            throw WorkerProcess.Failure(description: "the log does not give the file")
        }
        return events
    }

    @Test(
        "whatever the disk holds after a loss of power: it opens, verifies, and with full durability has every commit that was acknowledged",
        arguments: ["full", "relaxed"])
    func images(durability: String) async throws {
        let folder = folder
        let problems = try await onThread { () -> [String] in
            let transactions = 40, events = try CrashImageTests.log(folder, durability, transactions)
            var random = SeededRandom(seed: CrashImageTests.seed), lines: [String] = [], later = 0
            for number in 0..<CrashImageTests.images {
                let end = Int.random(in: 0...events.count, using: &random)
                let file = CrashImageTests.image(events[..<end], &random)
                let acknowledged = events[..<end].reduce(0) {
                    if case .acknowledged(let count) = $1 { count } else { $0 }
                }
                let path = folder("\(number)")
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
                try Data(file.bytes).write(to: URL(fileURLWithPath: path + "/data.mdb"))
                // With relaxed durability, the last commits may be lost, but the rest is whole.
                lines.append("\(path)\t0=\(durability == "full" ? acknowledged : 0)..\(acknowledged + 1)")
                later += acknowledged > 0 ? 1 : 0
            }
            guard later > CrashImageTests.images / 2 else { return ["hardly any image is of a store with commits"] }
            let check = try WorkerProcess(["check", "further"])
            DispatchQueue.global().async { [input = lines.joined(separator: "\n")] in
                check.say(input)
                check.closeInput()
            }
            let results = try check.lines(), status = check.end()
            print(
                "loss of power, durability \(durability): \(results.count) images of \(events.count) events, seed \(CrashImageTests.seed)"
            )
            var problems = results.filter { !$0.hasPrefix("ok\t") }
            if status != 0 || results.count != lines.count {
                problems.append("the check ended with \(status) after \(results.count)")
            }
            return problems
        }
        #expect(problems == [])
    }

    @Test("an image that leaves out what was before the last barrier is found to be damaged")
    func lostBarrier() async throws {
        let folder = folder
        let found = try await onThread { () -> Int in
            let events = try CrashImageTests.log(folder, "full", 30)
            var random = SeededRandom(seed: 1), lines: [String] = []
            // Flushed data pages of the last transactions are left out.
            for number in 0..<10 {
                var file = CrashImageTests.File()
                for event in events {
                    if case .write(let offset, let bytes, false) = event, offset > 8192,
                        Int.random(in: 0..<20, using: &random) == 0
                    {
                        file.write(offset, Array(repeating: 0, count: bytes.count)[...])
                    } else {
                        file.apply(event)
                    }
                }
                let path = folder("\(number)")
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
                try Data(file.bytes).write(to: URL(fileURLWithPath: path + "/data.mdb"))
                lines.append(path)
            }
            return try lines.filter { path in
                let worker = try WorkerProcess(["verify", path], environment: ["SWIFT_BACKTRACE": "enable=no"])
                _ = try worker.lines()
                return worker.end() == 1
            }.count
        }
        // The rest has lost pages that were free again by the end.
        #expect(found >= 5, "\(found) of 10")
    }
}

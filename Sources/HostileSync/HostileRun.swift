// The inputs of one child: each generates responses from its number, serves them, and syncs once or
// twice.

import Foundation
import Glibc
import Locking
import Tarn
import TarnDescription
import TarnInspect

final class HostileRun: Sendable {
    private static let memory = 1 << 30
    private static let seconds = 20.0
    /// The number of inputs that share a store: each finds the records of its predecessors.
    private static let share = 64

    private let seed: UInt64
    private let folder: String
    private let isVerbose: Bool
    private let began = Guarded((input: -1, time: 0.0))
    private let clock = VirtualClock()

    init(seed: UInt64, folder: String, isVerbose: Bool) {
        self.seed = seed
        self.folder = folder
        self.isVerbose = isVerbose
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    func run(_ inputs: Range<Int>) async {
        var limit = rlimit(rlim_cur: rlim_t(HostileRun.memory), rlim_max: rlim_t(HostileRun.memory))
        guard setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit) == 0 else { fail("no limit of memory") }
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var maker = AnswerMaker()
        guard let server = RawResponder() else { fail("no socket") }
        Thread.detachNewThread { server.serve() }
        Thread.detachNewThread { [self] in watch() }
        var slowest = (time: 0.0, input: 0)
        for input in inputs {
            note(input, slowest)
            let start = HostileRun.now
            began.withLock { $0 = (input, start) }
            await run(input, server, &maker)
            let time = HostileRun.now - start
            began.withLock { $0 = (-1, 0) }
            if time > slowest.time { slowest = (time, input) }
            if isVerbose { say("input \(input) of seed \(seed): \(time) s, \(HostileRun.peak >> 10) MiB at most") }
            note(input, slowest)
        }
        exit(0)
    }

    /// Ends the process if an input takes too long.
    private func watch() {
        while true {
            usleep(200_000)
            let (input, start) = began.withLock { ($0.input, $0.time) }
            guard input >= 0, HostileRun.now - start > HostileRun.seconds else { continue }
            say("input \(input) of seed \(seed) takes more than \(HostileRun.seconds) s")
            _exit(9)
        }
    }

    /// Writes the state for the parent, which reads it after the process has ended.
    private func note(_ input: Int, _ slowest: (time: Double, input: Int)) {
        let file = open(folder + "/state", O_WRONLY | O_CREAT, 0o600)
        let text = "\(input) \(slowest.time) \(slowest.input) \(HostileRun.peak) "
        let bytes = Array(text.utf8) + Array(repeating: 0x20, count: max(0, 80 - text.utf8.count))
        pwrite(file, bytes, bytes.count, 0)
        close(file)
    }

    /// The peak resident memory, in KiB.
    private static var peak: Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss
    }

    private func run(_ input: Int, _ server: RawResponder, _ maker: inout AnswerMaker) async {
        var chance = Chance(seed: seed, input: input)
        // A separate origin: the rate limits of one input must not delay the next one.
        let base = "http://127.\(1 + input >> 16 & 63).\(input >> 8 & 255).\(1 + input & 127):\(server.port)"
        maker.base = base
        let answers = (1...(1 + chance.length(8))).map { maker.answer(&chance, page: $0) }
        let endpoint = chance.one(of: HostileAPI.endpoints).0, syncs = chance.once(in: 3) ? 2 : 1
        let yaml = HostileAPI.description(endpoint, base: base, isList: chance.once(in: 3)),
            path = folder + "/\(input / HostileRun.share).tarn"
        if isVerbose {
            say("endpoint \(endpoint), \(answers.count) answers")
            for answer in answers {
                say("  \(answer.count) bytes: \(String(decoding: answer.prefix(600), as: UTF8.self).debugDescription)")
            }
        }
        do {
            var description = try Description.parse(yaml, file: "tarn.yaml")
            description.storePath = path
            var transport = description.api.transport
            (transport.idleTimeout, transport.totalTimeout) = (.seconds(5), .seconds(10))
            let store = try Store.open(
                at: path, schema: description.schema, options: Store.Options(durability: .volatile))
            var client = APIClient.Options()
            client.time = clock.source
            client.pageLimit = 20
            for _ in 0..<syncs {
                server.set(answers)
                let report = try await APIMirror(
                    description, store: store, transport: CurlTransport(transport), client: client, environment: [:]
                ).sync()
                // The report is formatted as a program would print it.
                var text = report.failures.map(\.description).joined(separator: "\n")
                for diagnostic in report.endpoints.flatMap(\.report.diagnostics) { text += "\n\(diagnostic)" }
                for field in report.endpoints.flatMap(\.report.unmapped) { text += "\n\(field)" }
                if text.split(separator: "\n").contains(where: { $0.utf8.count > 20_000 }) {
                    say("input \(input) of seed \(seed): a line of more than 20,000 bytes")
                    _exit(8)
                }
                if isVerbose { say(text) }
            }
            if input % HostileRun.share == HostileRun.share - 1 || isVerbose { try check(store, path, input) }
        } catch {
            say("input \(input) of seed \(seed): \(error)")
            _exit(7)
        }
        if input % HostileRun.share == HostileRun.share - 1 { try? FileManager.default.removeItem(atPath: path) }
    }

    private func check(_ store: Store, _ path: String, _ input: Int) throws {
        let verification = try StoreInspector(at: path).verification()
        guard verification.isSound else {
            say(
                "input \(input) of seed \(seed): the store is not sound: \(verification.findings.prefix(5).map { "\($0)" })"
            )
            _exit(6)
        }
    }
}

/// A clock that advances only when a task sleeps: waiting for servers takes no time.
private final class VirtualClock: Sendable {
    private let passed = Guarded(0.0)

    var source: TimeSource {
        TimeSource(
            now: { [self] in Date(timeIntervalSince1970: 1_790_000_000 + passed.withLock { $0 }) },
            sleep: { [self] duration in
                try Task.checkCancellation()
                passed.withLock { $0 += Double(duration.components.seconds) + 1 }
                await Task.yield()
            }, random: { 0.5 })
    }
}

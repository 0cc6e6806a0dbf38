// Every call that writes to the store's files fails once, or from then on: the process continues,
// reports the problem, and acknowledged writes are there. The same holds if it is killed at that
// call.

import Foundation
import Glibc
import TestSupport
import Testing

/// One sweep after the other: each starts hundreds of processes, and other tests wait for theirs.
@Suite("Faults of the system", .serialized, .timeLimit(.minutes(15)))
struct StoreFaultTests {
    /// The fault of the n-th call; see `tools/faults/fault.c`.
    struct Fault: Sendable, CustomTestStringConvertible {
        var kind: String
        /// Every call from the n-th on, not that one alone.
        var isSticky = false

        var testDescription: String { kind + (isSticky ? ", from then on" : "") }

        var kills: Bool { ["kill", "tear"].contains(kind) }

        /// The possible errors of failed attempts. liblmdb reports a short write as ENOSPC when it
        /// creates the file, as EIO later.
        var errorKinds: [String] {
            switch kind {
            case "ENOSPC": ["diskFull"]
            case "short": ["inputOutput", "diskFull"]
            default: ["inputOutput"]
            }
        }

        /// Whether the fault applies to a call.
        func concerns(_ call: Call) -> Bool { call.bytes > 0 || !["short", "tear"].contains(kind) }
    }

    /// A line of the library's log.
    struct Call {
        var number: Int
        var name: String
        var bytes: Int
        var file: String

        init?(_ line: Substring) {
            let words = line.split(separator: " ")
            guard words.count >= 4, let number = Int(words[0]), let bytes = Int(words[2]) else { return nil }
            (self.number, name, self.bytes) = (number, String(words[1]), bytes)
            file = words[3].split(separator: "/").last.map(String.init) ?? ""
        }

        /// mdb.c, `mdb_env_write_meta`: it writes a meta page from `mm_mapsize` on, past its
        /// header.
        var isOfMetaPage: Bool { file == "data.mdb" && name == "pwrite" && bytes == 120 }
    }

    static let transactions = 14
    /// The work of the process: transactions of a stream, or units of an import.
    enum Work: String, Sendable {
        case script, `import`

        /// The name of the counted items in a check.
        var stream: String { self == .script ? "0" : "import" }

        /// One of this number of calls is tried. Sanitized code takes several times as long.
        var distance: Int { isComplete ? 1 : (self == .script ? 3 : 9) * (isSanitized ? 4 : 1) }
    }

    /// `TARN_FAULTS=all` for every call, and with both durabilities; otherwise the calls that make
    /// the store and every third after them, another third for each fault; of imports every ninth.
    private static let isComplete = ProcessInfo.processInfo.environment["TARN_FAULTS"] == "all"
    private static let faults: [Fault] =
        ["ENOSPC", "EIO", "short", "late"].flatMap { [Fault(kind: $0), Fault(kind: $0, isSticky: true)] }
        + [Fault(kind: "kill"), Fault(kind: "tear")]

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Runs the script on a separate store. Returns the ended process, and its output.
    private static func run(
        _ path: String, _ durability: String, _ work: Work = .script, at number: Int = 0, _ fault: Fault? = nil,
        log: String? = nil
    ) throws -> (status: Int32, lines: [String]) {
        var environment = try FaultLibrary.environment(path, ["FAULT_AT": "\(number)"])
        if let fault { environment["FAULT_KIND"] = fault.kind }
        if fault?.isSticky == true { environment["FAULT_STICKY"] = "1" }
        if let log { environment["FAULT_LOG"] = log }
        let script = try WorkerProcess([work.rawValue, path, "\(transactions)", durability], environment: environment)
        let lines = try script.lines()
        return (script.end(), lines)
    }

    /// The calls of the script without a fault.
    private static func calls(_ folder: TemporaryFolder, _ durability: String, _ work: Work = .script) throws -> [Call]
    {
        let (status, _) = try run(folder("count"), durability, work, log: folder("log"))
        guard status == 0 else { throw WorkerProcess.Failure(description: "the script fails by itself: \(status)") }
        return try String(contentsOfFile: folder("log"), encoding: .utf8).split(separator: "\n").compactMap(Call.init)
    }

    @Test("the script makes the calls that are to fail, in the same order each time")
    func callsAreCounted() async throws {
        let folder = folder
        let (calls, again) = try await onThread {
            let other = try TemporaryFolder()
            return (try StoreFaultTests.calls(folder, "full"), try StoreFaultTests.calls(other, "full"))
        }
        #expect(calls.count > 80)
        #expect(calls.map(\.name) == again.map(\.name) && calls.map(\.bytes) == again.map(\.bytes))
        // Two of the opening and one for each transaction; the last call of all is one. The new
        // file is flushed once besides.
        #expect(calls.filter(\.isOfMetaPage).count == StoreFaultTests.transactions + 2)
        #expect(calls.last?.isOfMetaPage == true)
        #expect(calls.filter { $0.name == "fdatasync" }.count == StoreFaultTests.transactions + 3)
        #expect(Set(calls.map(\.name)) == ["ftruncate", "pwrite", "writev", "fdatasync"])
    }

    @Test(
        "whichever call fails, the process says so, goes on or can be started anew, and has what it acknowledged",
        arguments: faults)
    func everyCall(_ fault: Fault) async throws {
        let folder = folder
        let problems = try await onThread {
            try StoreFaultTests.sweep(folder, "full", fault)
                + (StoreFaultTests.isComplete ? StoreFaultTests.sweep(try TemporaryFolder(), "relaxed", fault) : [])
        }
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    @Test("whichever call of an import fails, none of its units is there by half, and it goes on", arguments: faults)
    func everyCallOfAnImport(_ fault: Fault) async throws {
        let folder = folder
        let problems = try await onThread { try StoreFaultTests.sweep(folder, "full", fault, .import) }
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    /// Tries the fault at one call after the other. Returns the problems.
    private static func sweep(_ folder: TemporaryFolder, _ durability: String, _ fault: Fault, _ work: Work = .script)
        throws -> [String]
    {
        let index = faults.firstIndex { $0.testDescription == fault.testDescription } ?? 0
        let distance = work.distance
        let calls = try calls(folder, durability, work).filter { call in
            fault.concerns(call)
                && (work == .script && !isSanitized && call.number <= 10 || call.number % distance == index % distance)
        }
        var problems: [String] = [], stores: [String] = []
        for call in calls {
            let path = folder("\(call.number)")
            let (status, lines) = try run(path, durability, work, at: call.number, fault)
            var progress = Progress(streams: [0]), failures: [[Substring]] = []
            for line in lines where !progress.take(line) {
                let words = line.split(separator: " ", maxSplits: 2)
                if words.first == "failed" { failures.append(words) } else { problems.append("\(call): \(line)") }
            }
            let count = progress.counts[0, default: 0]
            for problem in judge(call, fault, status, failures, count) {
                problems.append("\(call): \(problem): \(lines.suffix(5))")
            }
            // Refused writes are not there; the last write of a killed process may be.
            stores.append("\(path)\t\(work.stream)=\(count)..\(count + (fault.kills ? 1 : 0))")
        }
        guard !stores.isEmpty else { return ["no call was tried"] }
        let check = try WorkerProcess(["check", "further"])
        DispatchQueue.global().async { [input = stores.joined(separator: "\n")] in
            check.say(input)
            check.closeInput()
        }
        let results = try check.lines()
        if check.end() != 0 || results.count != stores.count { problems.append("the check ended with \(check.end())") }
        print(
            "\(work.rawValue), \(fault.testDescription), durability \(durability): \(calls.count) calls failed in turn")
        return problems + results.filter { !$0.hasPrefix("ok\t") }
    }

    /// The problem of a run's end and output.
    private static func judge(
        _ call: Call, _ fault: Fault, _ status: Int32, _ failures: [[Substring]], _ count: Int
    ) -> [String] {
        if fault.kills { return status == -SIGKILL && failures.isEmpty ? [] : ["not killed: \(status)"] }
        var problems: [String] = []
        // 0: all was written, some of it at the second attempt; 3: three attempts in turn failed.
        if status != (fault.isSticky ? 3 : 0) { problems.append("it ended with \(status)") }
        if !fault.isSticky && count != transactions { problems.append("it wrote \(count)") }
        let kinds = failures.map { $0.count > 1 ? String($0[1]) : "" }
        if let first = kinds.first {
            if !fault.errorKinds.contains(first) { problems.append("the first failure is \(first)") }
        } else if !(call.name == "ftruncate" && call.file == "store.lock") || fault.isSticky {
            problems.append("no failure was reported")
        }
        if let other = kinds.first(where: { !(fault.errorKinds + ["poisoned"]).contains($0) }) {
            problems.append("a failure is \(other)")
        }
        if call.isOfMetaPage && call.number > 11 && !kinds.contains("poisoned") {
            problems.append("nothing says to open again")
        }
        for failure in failures where failure[1] == "poisoned" && failure.last?.contains("open it again") != true {
            problems.append("poisoned, and no way out")
        }
        for failure in failures where failure.count < 3 || failure[2].count < 40 {
            problems.append("the text is \(failure)")
        }
        return problems
    }
}

// Runs the built `StoreWorker` as a child process: its output is read from a pipe, and it can be
// killed at any point.

import Foundation
import Glibc
import Testing

/// A `StoreWorker` that runs. Used by one thread at a time, but for its input.
final class WorkerProcess: @unchecked Sendable {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    let processID: pid_t
    private var input: Int32
    private let output: Int32
    private var buffer: [UInt8] = []
    private var status: Int32?

    /// Products lie beside the test runner.
    private static var executable: String {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/StoreWorker"
    }

    /// - Parameter environment: added to this process's.
    init(_ arguments: [String], environment: [String: String] = [:]) throws {
        let inputs = try WorkerProcess.pipe(), outputs = try WorkerProcess.pipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, inputs[0], 0)
        posix_spawn_file_actions_adddup2(&actions, outputs[1], 1)
        actions.closeInheritedFiles()
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" }
        var argv: [UnsafeMutablePointer<CChar>?] = ([WorkerProcess.executable] + arguments).map { strdup($0) } + [nil]
        var envp: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
        defer {
            (argv + envp).forEach { free($0) }
            posix_spawn_file_actions_destroy(&actions)
            close(inputs[0])
            close(outputs[1])
        }
        var processID: pid_t = 0
        let code = posix_spawn(&processID, WorkerProcess.executable, &actions, nil, &argv, &envp)
        (self.processID, input, output) = (processID, inputs[1], outputs[0])
        guard code == 0 else { throw Failure(description: "StoreWorker: \(String(cString: strerror(code)))") }
    }

    /// Close-on-exec from the beginning: no other child of the tests keeps an end open. Swift does
    /// not import `pipe2`.
    private static func pipe() throws -> [Int32] {
        let symbol = try #require(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "pipe2"))
        let pipe2 = unsafeBitCast(symbol, to: (@convention(c) (UnsafeMutablePointer<Int32>, Int32) -> Int32).self)
        var ends: [Int32] = [0, 0]
        guard pipe2(&ends, O_CLOEXEC) == 0 else {
            throw Failure(description: "pipe: \(String(cString: strerror(errno)))")
        }
        return ends
    }

    deinit {
        if status == nil, processID > 0 {
            kill()
            end()
        }
        closeInput()
        close(output)
    }

    /// Returns the next line of its output; nil if it has ended.
    ///
    /// - Throws: if it neither prints a line nor ends within a minute.
    func line() throws -> String? {
        while true {
            if let end = buffer.firstIndex(of: 10) {
                defer { buffer.removeFirst(end + 1) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            var ready = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, 60_000) != 0 else {
                throw Failure(description: "StoreWorker has said nothing for a minute")
            }
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count = read(output, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return nil }
            buffer += chunk.prefix(count)
        }
    }

    /// The output from now on until its end.
    func lines() throws -> [String] {
        var lines: [String] = []
        while let line = try line() { lines.append(line) }
        return lines
    }

    func say(_ text: String) {
        var bytes = Array((text + "\n").utf8)
        while !bytes.isEmpty {
            let count = write(input, bytes, bytes.count)
            guard count > 0 else { return }
            bytes.removeFirst(count)
        }
    }

    func closeInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    func kill() { Glibc.kill(processID, SIGKILL) }

    /// Waits for its end. Returns the exit code, or the negative number of the signal that ended
    /// it.
    @discardableResult
    func end() -> Int32 {
        if let status { return status }
        var raw: Int32 = 0
        while waitpid(processID, &raw, 0) < 0 && errno == EINTR {}
        let result = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : -(raw & 0x7F)
        status = result
        return result
    }
}

/// The progress of a worker's streams.
struct Progress {
    /// The progress after the last check, and the acknowledgements since.
    private(set) var counts: [Int: Int]

    init(streams: some Sequence<Int>) {
        counts = Dictionary(uniqueKeysWithValues: streams.map { ($0, 0) })
    }

    /// Takes `ack STREAM NUMBER`; false for a line that is something else.
    mutating func take(_ line: String) -> Bool {
        let words = line.split(separator: " ")
        guard words.count == 3, words[0] == "ack", let stream = Int(words[1]), let number = Int(words[2]) else {
            return false
        }
        // In turn, with none left out: or the worker is wrong.
        guard number == counts[stream, default: 0] + 1 else { return false }
        counts[stream] = number
        return true
    }

    /// Lets another process check the store: every stream has come as far as was acknowledged, and
    /// at most `open` transactions further; everything else in the store follows from that.
    ///
    /// - Parameter ofImport: whether the one stream is the units of an import.
    /// - Returns: what is wrong; nil if nothing is.
    mutating func problem(at path: String, open: Int = 1, ofImport: Bool = false) throws -> String? {
        let check = try WorkerProcess(["check"])
        check.say(
            ([path] + counts.map { "\(ofImport ? "import" : "\($0.key)")=\($0.value)..\($0.value + open)" }).joined(
                separator: "\t"))
        check.closeInput()
        let lines = try check.lines(), status = check.end()
        let words = lines.first?.split(separator: "\t").map(String.init) ?? []
        guard status == 0, words.first == "ok" else { return "the check ended with \(status): \(lines)" }
        for word in words.dropFirst(2) {
            let numbers = word.split(separator: "=").compactMap { Int($0) }
            if numbers.count == 2 { counts[numbers[0]] = numbers[1] }
        }
        return nil
    }
}

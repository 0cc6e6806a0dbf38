// Runs the built `tarn` as a child process, as a user would, and keeps its output.

import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// A running `tarn`. Its output is written to files: no pipe fills up, and no other child keeps one
/// open.
final class TarnProcess: Sendable {
    struct Result: Sendable {
        /// The exit code, or the negative number of the signal that ended it. An interrupt is 128
        /// and its number, as in a shell.
        var status: Int32
        var output: String
        var error: String

        var lines: [String] { output.split(separator: "\n").map(String.init) }
        /// A line of the output; its absence fails the test instead of ending the run.
        func line(_ index: Int) throws -> String { try #require(index < lines.count ? lines[index] : nil, "\(error)") }
        var errorLines: [String] { error.split(separator: "\n").map(String.init) }
    }

    let processID: pid_t
    private let isAwaited = Atomic(false)
    private let folder: TemporaryFolder

    /// Products lie beside the test runner.
    static var executable: String {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/tarn"
    }

    /// - Parameters:
    ///   - environment: added to this process's.
    ///   - program: what is run instead of `tarn`, for shells and terminals around it.
    init(
        _ arguments: [String], environment: [String: String] = [:],
        program: String = TarnProcess.executable
    ) throws {
        folder = try TemporaryFolder()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, folder.path + "/output", O_WRONLY | O_CREAT, 0o644)
        posix_spawn_file_actions_addopen(&actions, 2, folder.path + "/error", O_WRONLY | O_CREAT, 0o644)
        actions.closeInheritedFiles()
        // Signals as a shell leaves them: a runner may ignore some.
        var attributes = posix_spawnattr_t(), signals = sigset_t(), none = sigset_t()
        posix_spawnattr_init(&attributes)
        sigemptyset(&none)
        sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        // Lines about progress depend on the speed of the machine.
        let variables = ProcessInfo.processInfo.environment.filter { $0.key != "COLUMNS" }.merging([
            "TARN_PROGRESS_SECONDS": "0"
        ]) { $1 }
        .merging(environment) { $1 }.map { "\($0)=\($1)" }
        var argv: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        var envp: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
        defer {
            (argv + envp).forEach { free($0) }
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        var processID: pid_t = 0
        let code = posix_spawn(&processID, program, &actions, &attributes, &argv, &envp)
        guard code == 0 else {
            throw LocalServer.Failure(description: "\(program): \(String(cString: strerror(code)))")
        }
        self.processID = processID
    }

    /// The output so far.
    var output: String {
        String(decoding: FileManager.default.contents(atPath: folder.path + "/output") ?? Data(), as: UTF8.self)
    }

    /// The messages so far.
    var error: String {
        String(decoding: FileManager.default.contents(atPath: folder.path + "/error") ?? Data(), as: UTF8.self)
    }

    func send(_ signal: Int32) { kill(processID, signal) }

    /// Whether it has ended. It stays a zombie until ``end()`` takes its status.
    var hasEnded: Bool {
        var info = siginfo_t()
        // It is filled only for a child that has ended.
        let code = waitid(P_PID, id_t(processID), &info, WEXITED | WNOHANG | WNOWAIT)
        return code != 0 || info.si_signo == SIGCHLD
    }

    /// Its anonymous memory (RssAnon), in bytes.
    var residentBytes: Int {
        get throws {
            let status = try String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
            return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }) * 1024
        }
    }

    deinit {
        guard !isAwaited.load(ordering: .relaxed) else { return }
        // Swift Testing waits for any child, and looks at the same zombie for ever: no exit test ends.
        let processID = processID
        Thread.detachNewThread { while waitpid(processID, nil, 0) < 0 && errno == EINTR {} }
    }

    /// Waits for its end, without holding a thread of the tests.
    func end() async -> Result {
        let processID = processID
        isAwaited.store(true, ordering: .relaxed)
        let status = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var status: Int32 = 0
                while waitpid(processID, &status, 0) < 0 && errno == EINTR {}
                let signal = status & 0x7F, isInterrupt = [SIGINT, SIGTERM, SIGHUP].contains(signal)
                continuation.resume(
                    returning: signal == 0 ? (status >> 8) & 0xFF : isInterrupt ? 128 + signal : -signal)
            }
        }
        func text(_ name: String) -> String {
            String(decoding: FileManager.default.contents(atPath: folder.path + "/" + name) ?? Data(), as: UTF8.self)
        }
        return Result(status: status, output: text("output"), error: text("error"))
    }
}

/// Runs `tarn` to its end.
func tarn(_ arguments: [String], environment: [String: String] = [:]) async throws -> TarnProcess.Result {
    try await TarnProcess(arguments, environment: environment).end()
}

func tarn(_ arguments: String...) async throws -> TarnProcess.Result { try await tarn(arguments) }

/// Fails with the output of the process if it did not succeed.
func expectSuccess(_ result: TarnProcess.Result, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(result.status == 0, "\(result.error)\(result.output.suffix(500))", sourceLocation: sourceLocation)
}

/// Runs a shell command; `$TARN` is the executable.
func shell(_ command: String) async throws -> TarnProcess.Result {
    try await TarnProcess(
        ["-c", command], environment: ["TARN": TarnProcess.executable], program: "/bin/bash"
    ).end()
}

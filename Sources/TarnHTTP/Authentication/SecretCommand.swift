// Programs that print secrets.

import Foundation
import Locking

/// A program that prints a secret, or the wait for one in a pipe. It runs at most once.
final class SecretCommand: Sendable {
    private struct State {
        /// The process, until its status is known.
        var processID: pid_t?
        var isEnded = false
    }

    private let state = Guarded(State())

    /// Whether the secret is no longer needed.
    var isEnded: Bool { state.withLock(\.isEnded) }

    /// Ends the program and its children, now or as soon as it starts.
    func end() {
        state.withLock { state in
            state.isEnded = true
            if let processID = state.processID { kill(-processID, SIGKILL) }
        }
    }

    /// Runs the program in a process group of its own, and returns its standard output.
    ///
    /// The output is complete when the program has closed it, or has ended: a child that it leaves
    /// behind may keep the pipe.
    ///
    /// - Parameters:
    ///   - limit: the number of bytes after which the program is killed, with its children.
    ///   - time: the time after which it is killed.
    func run(
        _ words: [String], _ source: SecretSource, limit: Int, time: Duration = .seconds(30)
    ) throws(SecretError) -> Data {
        guard !words.isEmpty else { throw SecretError(source, "is empty") }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SecretError(source, "cannot be run") }
        defer { close(ends[0]) }
        // Programs that other threads start must not keep the pipe.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let started = SecretCommand.start(words, output: ends[1])
        close(ends[1])
        guard let processID = started else { throw SecretError(source, "cannot be run") }
        state.withLock { state in
            state.processID = processID
            if state.isEnded { kill(-processID, SIGKILL) }
        }
        // While the machine sleeps, so does the program.
        let end = SuspendingClock.now + time
        let data = SecretCommand.output(of: processID, ends[0], limit: limit, until: end)
        // Also its status counts: it may fail after it has printed something.
        while data.count <= limit, !SecretCommand.isOver(processID), SuspendingClock.now < end { usleep(5000) }
        let isLate = data.count <= limit && !SecretCommand.isOver(processID)
        let isEnded = state.withLock { state in
            state.processID = nil
            if isLate || data.count > limit { kill(-processID, SIGKILL) }
            return state.isEnded
        }
        var status: Int32 = 0, found: pid_t
        repeat { found = waitpid(processID, &status, 0) } while found < 0 && errno == EINTR
        if isEnded { throw SecretError(source, "was interrupted") }
        if isLate { throw SecretError(source, "was terminated after \(time.components.seconds) seconds") }
        // The caller reports the length.
        if data.count > limit { return data }
        // ECHILD (waitpid(2)).
        guard found == processID else { throw SecretError(source, "has no known status: the process ignores SIGCHLD") }
        guard status & 0x7F == 0 else { throw SecretError(source, "was terminated by a signal") }
        switch (status >> 8) & 0xFF {
        case 0: return data
        case let code: throw SecretError(source, SecretCommand.failure(words[0], status: code))
        }
    }

    /// The reason of a failure, as the predicate of a sentence about the program.
    ///
    /// env(1) ends with 127 if there is no such program, and with 126 if it cannot be run. So does
    /// a shell or a script because of a program that it runs.
    private static func failure(_ program: String, status: Int32) -> String {
        let failed = "failed with status \(status)"
        guard status == 126 || status == 127 else { return failed }
        let paths = paths(of: program)
        if status == 127, !paths.contains(where: { access($0, F_OK) == 0 }) { return "does not exist" }
        guard paths.contains(where: { SecretSource.isFile($0) && access($0, X_OK) == 0 }) else {
            return "is not executable"
        }
        return "\(failed): it may run a program that \(status == 127 ? "does not exist" : "is not executable")"
    }

    /// The files that a name means, in the order of the search (execvp(3)).
    private static func paths(of program: String) -> [String] {
        guard !program.contains("/") else { return [program] }
        let folders = getenv("PATH").map { String(cString: $0) } ?? "/bin:/usr/bin"
        return folders.split(separator: ":", omittingEmptySubsequences: false).map {
            ($0.isEmpty ? "." : String($0)) + "/" + program
        }
    }

    /// Starts a program that is found by `PATH`, without a shell.
    private static func start(_ words: [String], output: Int32) -> pid_t? {
        var actions = posix_spawn_file_actions_t(), attributes = posix_spawnattr_t(), signals = sigset_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        // Error messages of the program may hold a secret.
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGPIPE, SIGXFSZ] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        let command = ["env", "--"] + words
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] =
            ProcessInfo.processInfo.environment.keys.compactMap(SecretCommand.variable) + [nil]
        defer {
            (arguments + variables).forEach { free($0) }
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        var processID: pid_t = 0
        return posix_spawn(&processID, "/usr/bin/env", &actions, &attributes, &arguments, &variables) == 0
            ? processID : nil
    }

    /// A variable of the environment as it is: Foundation's text has U+FFFD for what is not UTF-8,
    /// such as in the path of a password store.
    private static func variable(_ name: String) -> UnsafeMutablePointer<CChar>? {
        guard let value = getenv(name) else { return nil }
        let bytes =
            "\(name)=".utf8.map(CChar.init(bitPattern:)) + UnsafeBufferPointer(start: value, count: strlen(value))
        return (bytes + [0]).withUnsafeBufferPointer { bytes in bytes.baseAddress.flatMap { strdup($0) } }
    }

    /// The time for which output is awaited that a process has written before its end.
    private static let rest = Duration.milliseconds(100)

    /// Reads the output of a process until its end, its limit or the end of the time.
    ///
    /// The output of a process that has ended counts whenever it is read: the time may end while
    /// this process is stopped (Ctrl-Z).
    static func output(
        of processID: pid_t, _ file: Int32, limit: Int, until end: SuspendingClock.Instant
    ) -> Data {
        var data = Data(), buffer = [UInt8](repeating: 0, count: 4096)
        var end = end, isOver = false
        while data.count <= limit {
            if !isOver, SecretCommand.isOver(processID) { (isOver, end) = (true, SuspendingClock.now + rest) }
            let isLate = SuspendingClock.now >= end
            guard isOver || !isLate else { break }
            var poller = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
            guard poll(&poller, 1, isLate ? 0 : 10) > 0 else {
                if isLate { break }
                continue
            }
            let count = buffer.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            data.append(contentsOf: buffer[..<count])
        }
        return data
    }

    /// Whether a process has ended. Its status remains to be read: its number is not used again.
    private static func isOver(_ processID: pid_t) -> Bool {
        var info = siginfo_t()
        guard waitid(P_PID, id_t(processID), &info, WEXITED | WNOHANG | WNOWAIT) == 0 else { return errno != EINTR }
        return info.si_signo == SIGCHLD
    }
}

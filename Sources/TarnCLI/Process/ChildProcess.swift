// Programs that a command starts: a pager, a browser. No shell is involved.

import Foundation

enum ChildProcess {
    /// Starts a program, found by `PATH`, with its arguments.
    ///
    /// - Parameters:
    ///   - input: the descriptor of its standard input; nil for none.
    ///   - isQuiet: whether its standard output is dropped.
    /// - Returns: its process id; nil if it could not be started.
    static func start(
        _ command: [String], input: Int32? = nil, isQuiet: Bool = false,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> pid_t? {
        guard let program = command.first else { return nil }
        var actions = posix_spawn_file_actions_t(), attributes = posix_spawnattr_t(), signals = sigset_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        if isQuiet { posix_spawn_file_actions_addopen(&actions, Output.descriptor, "/dev/null", O_WRONLY, 0) }
        sigemptyset(&signals)
        // The threads of libdispatch block signals. A pager that inherits this ignores Ctrl-Z and
        // the size of the terminal.
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGINT, SIGTERM, SIGPIPE, SIGXFSZ] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer {
            (arguments + variables).forEach { free($0) }
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        var processID: pid_t = 0
        return posix_spawnp(&processID, program, &actions, &attributes, &arguments, &variables) == 0 ? processID : nil
    }

    /// Waits for the end of a program.
    ///
    /// - Returns: whether its exit code is 0.
    static func wait(_ processID: pid_t) -> Bool { exitCode(processID) == 0 }

    /// Waits for the end of a program.
    ///
    /// - Returns: its exit code; nil if a signal has ended it.
    static func exitCode(_ processID: pid_t) -> Int32? {
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0 {
            guard errno == EINTR else { return nil }
        }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : nil
    }
}

// The pager: output on a terminal that is longer than the screen goes through `less`, as git does.

import Foundation
import Locking

enum Pager {
    private enum State {
        case off
        /// Lines wait until they fill the screen, or for half a second.
        case holding(rows: Int, columns: Int)
        case running(processID: pid_t, descriptor: Int32, program: String)
    }

    private static let state = Guarded<State>(.off)
    /// The text that has gone to the pager so far; nil once it is more than a failing pager takes.
    private static let sent = Guarded<[UInt8]?>([])
    /// Whether Ctrl-C ends the process when no pager runs.
    private static let isInterruptible = Guarded(false)
    /// Whether the pipe has taken any of it.
    private static let hasTaken = Guarded(false)
    /// More than the kernel keeps for a pager that reads nothing.
    private static let mostKept = 1 << 20
    /// The time between two looks at the running pager.
    private static let interval = DispatchTimeInterval.milliseconds(200)

    /// Lets the output of the command go through a pager, if it is longer than the screen.
    ///
    /// The terminal must be the process's own, and the process in its foreground.
    static func begin() {
        guard Output.isTerminal, tcgetpgrp(Output.descriptor) == getpgrp(), let command = command(environment),
            !command.isEmpty
        else { return }
        var size = winsize()
        guard ioctl(Output.descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 2, size.ws_col >= 20 else { return }
        state.withLock { $0 = .holding(rows: Int(size.ws_row) - 1, columns: Int(size.ws_col)) }
        awaitLines()
    }

    private static var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// The program and its arguments; nil if no pager is wanted.
    ///
    /// `TARN_PAGER` comes before `PAGER`; an empty value and `cat` mean none. The value is split at
    /// spaces, and no shell runs.
    static func command(_ environment: [String: String]) -> [String]? {
        guard let term = environment["TERM"], !term.isEmpty, term != "dumb" else { return nil }
        let text = environment["TARN_PAGER"] ?? environment["PAGER"] ?? "less"
        let words = text.split(separator: " ").map(String.init)
        return words.isEmpty || words == ["cat"] ? nil : words
    }

    private static func awaitLines() {
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.5) {
            guard isHolding else { return }
            Output.startPagerIfWaiting()
            awaitLines()
        }
    }

    static var isHolding: Bool { state.withLock { if case .holding = $0 { true } else { false } } }

    /// Whether the buffered lines are more than the screen shows.
    static func wants(_ buffer: [UInt8]) -> Bool {
        state.withLock { state in
            guard case .holding(let rows, let columns) = state, buffer.count > rows else { return false }
            var lines = 0, length = 0
            for byte in buffer {
                length += byte & 0xC0 == 0x80 ? 0 : 1
                if byte == UInt8(ascii: "\n") {
                    lines += 1 + max(0, length - 2) / columns
                    length = 0
                }
            }
            return lines > rows
        }
    }

    /// Starts the pager. If that fails, the output goes to the terminal.
    static func start() {
        state.withLock { state in
            guard case .holding = state else { return }
            state = .off
            guard let command = command(environment) else { return }
            // The pager handles the keys, and the process ends with it.
            if !Interrupts.isIgnored(SIGINT) { isInterruptible.withLock { $0 = true } }
            signal(SIGINT, SIG_IGN)
            guard let running = spawn(command) else { return restoreInterrupt() }
            signal(SIGPIPE, SIG_IGN)
            state = .running(
                processID: running.processID, descriptor: running.descriptor, program: command.first ?? "")
            sent.withLock { $0 = [] }
            hasTaken.withLock { $0 = false }
            awaitEnd()
        }
    }

    /// Ends the process soon after the user has left the pager.
    ///
    /// A command that finds nothing more to write would not notice it, and would go on without a
    /// way to interrupt it.
    private static func awaitEnd() {
        DispatchQueue.global().asyncAfter(deadline: .now() + interval) {
            switch ending {
            case .running: awaitEnd()
            case .left: TarnCommand.end(0)
            // The next output goes to the terminal.
            case .failed: restoreInterrupt()
            case nil: break
            }
        }
    }

    private enum Ending { case running, left, failed }

    /// Whether the pager runs, or a child of it that reads its input; nil if the command waits for
    /// its end, or has handled it.
    private static var ending: Ending? {
        state.withLock { state in
            guard case .running(let processID, let descriptor, _) = state else { return nil }
            var pipe = pollfd(fd: descriptor, events: 0, revents: 0), info = siginfo_t()
            guard poll(&pipe, 1, 0) > 0, pipe.revents & Int16(POLLERR) != 0,
                waitid(P_PID, id_t(processID), &info, WEXITED | WNOHANG | WNOWAIT) == 0, info.si_signo == SIGCHLD
            else { return .running }
            return info.si_code == CLD_EXITED && info._sifields._sigchld.si_status == 0 ? .left : .failed
        }
    }

    /// Lets Ctrl-C end the process again.
    private static func restoreInterrupt() {
        let isDue = isInterruptible.withLock { isInterruptible in
            defer { isInterruptible = false }
            return isInterruptible
        }
        if isDue { signal(SIGINT, SIG_DFL) }
    }

    /// The descriptor of the running pager; nil if none runs.
    static var descriptor: Int32? {
        state.withLock { if case .running(_, let descriptor, _) = $0 { descriptor } else { nil } }
    }

    /// Ends the wait for a full screen: the output fits it.
    static func release() {
        state.withLock { if case .holding = $0 { $0 = .off } }
    }

    /// Notes what goes to the pager.
    static func keep(_ bytes: [UInt8]) {
        sent.withLock { sent in
            sent = sent.flatMap { $0.count + bytes.count > mostKept ? nil : $0 + bytes }
        }
    }

    /// Notes that bytes are in the pipe to the pager.
    static func noteTaken() { hasTaken.withLock { $0 = true } }

    /// Returns what a pager that failed has not shown.
    static func takeUnshown() -> [UInt8] {
        sent.withLock { sent in
            defer { sent = [] }
            return sent ?? []
        }
    }

    /// Closes the pager's input, and waits until the user has left it.
    ///
    /// - Returns: false if the pager has failed, such as for a wrong option, before it has read
    ///   everything, and can have taken little. One that has read everything has shown it, whatever
    ///   its exit code is.
    @discardableResult static func finish() -> Bool {
        let running = state.withLock { state -> State in
            defer { state = .off }
            return state
        }
        guard case .running(let processID, let descriptor, let program) = running else { return true }
        // Another reader, to see what the pager leaves: opening the link of a pipe's end opens the
        // pipe (proc_pid_fd(5)).
        let reader = open("/proc/self/fd/\(descriptor)", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer {
            if reader >= 0 { close(reader) }
            restoreInterrupt()
        }
        close(descriptor)
        guard let code = ChildProcess.exitCode(processID), code != 0 else { return true }
        // `less -K` ends with 2 after Ctrl-C.
        if code == 2, program.split(separator: "/").last == "less" { return true }
        var unread: Int32 = -1
        if reader >= 0, ioctl(reader, UInt(FIONREAD), &unread) == 0, unread == 0, hasTaken.withLock({ $0 }) {
            return true
        }
        return sent.withLock { $0 == nil }
    }

    private static func spawn(_ command: [String]) -> (processID: pid_t, descriptor: Int32)? {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        var variables = environment
        // Quit if the output fits the screen, and leave it there. Colours are not sent.
        if variables["LESS"] == nil { variables["LESS"] = "FX" }
        guard let processID = ChildProcess.start(command, input: ends[0], environment: variables) else {
            close(ends[1])
            return nil
        }
        return (processID, ends[1])
    }
}

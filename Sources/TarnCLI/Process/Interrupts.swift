// The handling of signals that interrupt a command.

import Foundation
import Locking

/// A handler for SIGINT, SIGTERM and SIGHUP, which interrupt a long-running command.
final class Interrupts {
    private let sources: [(number: Int32, source: any DispatchSourceSignal)]
    /// The first signal received; 0 for none.
    private static let first = Guarded<Int32>(0)

    /// Whether a signal was received.
    static var hasCome: Bool { first.withLock { $0 != 0 } }

    /// The exit code after a signal, as in shells: 128 plus the signal number.
    static var status: Int32 { 128 + first.withLock { $0 == 0 ? SIGINT : $0 } }

    /// The longest wait for the registration of the handlers.
    private static let registration = DispatchTimeInterval.seconds(1)
    /// The time in which further signals count as the first one: timeout(1) sends its signal
    /// twice, and for a closed terminal, SIGHUP comes from the system and from the shell.
    private static let repetition = Duration.milliseconds(250)

    /// Handles signals from its return on. One that comes before ends the process, and so does a
    /// second one.
    init(_ action: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "tarn.interrupts")
        let beginning = Beginning(), registered = DispatchSemaphore(value: 0)
        sources = [SIGINT, SIGTERM, SIGHUP].compactMap { number in
            // `nohup` ignores SIGHUP, and a script SIGINT for its commands in the background. They
            // must remain ignored.
            if Interrupts.isIgnored(number) { return nil }
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            // With its registration, the source takes the place of the signal's default action.
            // Ignored before, a signal would be lost.
            source.setRegistrationHandler { registered.signal() }
            source.setEventHandler {
                // The handler keeps its source until that is cancelled.
                defer { withExtendedLifetime(source) {} }
                Interrupts.first.withLock { if $0 == 0 { $0 = number } }
                guard let time = beginning.elapsed() else { return action() }
                guard time > Interrupts.repetition else { return }
                Interrupts.end()
            }
            source.resume()
            return (number: number, source: source)
        }
        signal(SIGPIPE, SIG_IGN)
        for _ in sources { _ = registered.wait(timeout: .now() + Interrupts.registration) }
    }

    /// Gives the signals their default action, if none has come: the next one ends the process.
    ///
    /// The handlers that the sources have installed stay when these are cancelled, and would drop
    /// the signals of a command that waits for the reader of its output. Otherwise the sources
    /// remain: the first signal may be repeated, and a second one ends the process.
    func stop() {
        guard !Interrupts.hasCome else { return }
        for (number, source) in sources {
            source.cancel()
            signal(number, SIG_DFL)
        }
    }

    /// Ends the process by the first signal, as if it was not handled.
    ///
    /// After Ctrl-C, a shell ends its script or its loop if the signal has ended the command, and
    /// goes on if the command has exited, whatever the exit code is.
    static func end() -> Never {
        LeftFolders.removeAll()
        let number = first.withLock(\.self)
        if number != 0 {
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, number)
            signal(number, SIG_DFL)
            pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            raise(number)
        }
        // The first process of a container is not ended by its own signals.
        _exit(status)
    }

    /// Whether the program that started this one lets it ignore a signal.
    static func isIgnored(_ number: Int32) -> Bool {
        var current = sigaction()
        guard sigaction(number, nil, &current) == 0 else { return false }
        return unsafeBitCast(current.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Gives a signal its default action, unless it is ignored.
    ///
    /// Swift's runtime handles SIGQUIT as a crash, and holds the process for half a minute to print
    /// the state of all threads.
    static func endAtOnce(_ number: Int32) {
        if !isIgnored(number) { signal(number, SIG_DFL) }
    }

    /// The time of the first signal, for one serial queue.
    private final class Beginning: @unchecked Sendable {
        private var first: ContinuousClock.Instant?

        /// Returns the time since the first call; nil in that call.
        func elapsed() -> Duration? {
            let now = ContinuousClock.now
            defer { first = first ?? now }
            return first.map { now - $0 }
        }
    }
}

// The handling of signals that interrupt a command.

import Foundation
import Locking

/// A handler for SIGINT, SIGTERM and SIGHUP, which interrupt a long-running command.
final class Interrupts {
    private let sources: [any DispatchSourceSignal]
    /// The first signal received; 0 for none.
    private static let first = Guarded<Int32>(0)

    /// The exit code after a signal, as in shells: 128 plus the signal number.
    static var status: Int32 { 128 + first.withLock { $0 == 0 ? SIGINT : $0 } }

    /// The longest wait for the registration of the handlers.
    private static let registration = DispatchTimeInterval.seconds(1)

    /// Handles signals from its return on. One that comes before ends the process.
    init(_ action: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "tarn.interrupts")
        let count = Counter(), registered = DispatchSemaphore(value: 0)
        sources = [SIGINT, SIGTERM, SIGHUP].compactMap { number in
            // `nohup` ignores SIGHUP, and a script SIGINT for its commands in the background. They
            // must remain ignored.
            if Interrupts.isIgnored(number) { return nil }
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            // With its registration, the source takes the place of the signal's default action.
            // Ignored before, a signal would be lost.
            source.setRegistrationHandler { registered.signal() }
            source.setEventHandler {
                Interrupts.first.withLock { if $0 == 0 { $0 = number } }
                if count.next() > 1 { _exit(Interrupts.status) }
                action()
            }
            source.resume()
            return source
        }
        signal(SIGPIPE, SIG_IGN)
        for _ in sources { _ = registered.wait(timeout: .now() + Interrupts.registration) }
    }

    func stop() { sources.forEach { $0.cancel() } }

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

    /// A counter for one serial queue.
    private final class Counter: @unchecked Sendable {
        private var value = 0
        func next() -> Int {
            value += 1
            return value
        }
    }
}

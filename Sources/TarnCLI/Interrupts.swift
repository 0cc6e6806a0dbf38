// What happens when a command is interrupted.

import Foundation

/// Calls back at SIGINT and SIGTERM.
final class Interrupts {
    private let sources: [any DispatchSourceSignal]

    init(_ action: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "tarn.interrupts")
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            let count = Counter()
            source.setEventHandler {
                if count.next() > 1 { _exit(130) }
                action()
            }
            source.resume()
            return source
        }
        signal(SIGPIPE, SIG_IGN)
    }

    func stop() { sources.forEach { $0.cancel() } }

    /// Used on one serial queue only.
    private final class Counter: @unchecked Sendable {
        private var value = 0
        func next() -> Int {
            value += 1
            return value
        }
    }
}

import Glibc
import Synchronization

/// The counter of the forks that led to this process.
///
/// It recognises an inherited environment without a system call.
enum ForkCounter {
    private static let count = Atomic<Int>(0)
    private static let handler: Void = {
        _ = pthread_atfork(nil, nil, { ForkCounter.count.add(1, ordering: .relaxed) })
    }()

    static func start() { _ = handler }

    static var current: Int { count.load(ordering: .relaxed) }
}

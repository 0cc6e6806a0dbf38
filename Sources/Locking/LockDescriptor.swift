// Descriptors of locked files, which a forked child must not keep.

import Glibc
import Synchronization

/// The descriptor of a file that is locked by `flock` or by "open file description locks".
///
/// These locks belong to the open file description. A child process that was forked, and that
/// starts no program, shares it: when this process is killed, the child would hold the locks until
/// it ends. Therefore the child closes the descriptor at once, which leaves the locks to its
/// parent. A program that the child starts closes it anyway (`O_CLOEXEC`).
package final class LockDescriptor: Sendable {
    private let descriptor: Int32
    /// The place in the table; nil without a file, or if the table is full.
    private let place: Int?

    /// Takes over an open descriptor. A negative number stands for no file.
    package init(_ descriptor: Int32) {
        _ = LockDescriptor.handler
        self.descriptor = descriptor
        place =
            descriptor < 0
            ? nil
            : (0..<LockDescriptor.capacity).first {
                LockDescriptor.table[$0].compareExchange(
                    expected: LockDescriptor.free, desired: descriptor, ordering: .sequentiallyConsistent
                ).exchanged
            }
    }

    /// Closes the file. Its owner has released its locks.
    deinit {
        guard number >= 0 else { return }
        // Before the file is closed: its number may be that of another file afterwards.
        if let place { LockDescriptor.table[place].store(LockDescriptor.free, ordering: .sequentiallyConsistent) }
        close(descriptor)
    }

    /// The number of the descriptor; negative without a file, as in a child that was forked.
    package var number: Int32 {
        guard let place else { return descriptor }
        return LockDescriptor.table[place].load(ordering: .relaxed) == descriptor ? descriptor : -1
    }

    // MARK: The table

    private static let free: Int32 = -1
    /// A place that an object of the parent process had: it is not used again, so that the object
    /// does not take another file for its own.
    private static let inherited: Int32 = -2
    /// The most descriptors that a child closes; it keeps any further ones.
    private static let capacity = 4096

    /// Atomic integers in memory that never moves: the handler may run at any time, and must not
    /// allocate or lock anything.
    nonisolated(unsafe) private static let table: UnsafeMutablePointer<Atomic<Int32>> = {
        let table = UnsafeMutablePointer<Atomic<Int32>>.allocate(capacity: capacity)
        for place in 0..<capacity { (table + place).initialize(to: Atomic(free)) }
        return table
    }()

    private static let handler: Void = {
        _ = table
        _ = pthread_atfork(nil, nil, { LockDescriptor.closeInherited() })
    }()

    /// Closes the descriptors of the parent process. Runs in a child at the end of `fork`.
    private static func closeInherited() {
        for place in 0..<capacity {
            let descriptor = table[place].load(ordering: .relaxed)
            guard descriptor >= 0 else { continue }
            table[place].store(inherited, ordering: .relaxed)
            close(descriptor)
        }
    }
}

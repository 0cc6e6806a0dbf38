// The file descriptors that a command needs.

import Foundation

enum Descriptors {
    /// With fewer free descriptors, a command may end by a signal.
    private static let needed = 16

    /// Throws unless the process can open as many files as commands need.
    ///
    /// Swift's runtime library (libdispatch) ends a process by a signal if it has no descriptor to
    /// wait for events. A soft limit is raised to the hard one first.
    static func require() throws(Failure) {
        guard free() < needed else { return }
        let limit = raiseLimit(to: .max), count = free()
        guard count < needed else { return }
        throw Failure(
            .failed,
            "too few files can be opened: \(count), and a command may need \(needed); "
                + "close inherited descriptors, or raise the limit to 64 or more (`ulimit -n`, now \(limit))")
    }

    /// Raises the soft limit of open files to a number, as far as the hard limit permits.
    ///
    /// - Returns: the limit of the process from then on; 0 if it is unknown.
    @discardableResult
    static func raiseLimit(to count: UInt) -> UInt {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return 0 }
        let known = limit.rlim_cur
        guard known < count, known < limit.rlim_max else { return UInt(known) }
        limit.rlim_cur = min(limit.rlim_max, rlim_t(count))
        return UInt(setrlimit(resource, &limit) == 0 ? limit.rlim_cur : known)
    }

    /// The number of further descriptors that the system grants, up to the number that is needed.
    private static func free() -> Int {
        var opened: [Int32] = []
        while opened.count < needed {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { break }
            opened.append(descriptor)
        }
        opened.forEach { close($0) }
        return opened.count
    }
}

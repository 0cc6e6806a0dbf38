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
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        if getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max
            setrlimit(resource, &limit)
        }
        let count = free()
        guard count < needed else { return }
        throw Failure(
            .failed,
            "too few files can be opened: \(count), and a command may need \(needed); "
                + "close inherited descriptors, or raise the limit to 64 or more (`ulimit -n`, now \(limit.rlim_cur))")
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

// The memory limit of the process: the minimum of the machine's memory and all limits.

import Foundation
import Glibc

/// The memory limit of the process.
enum MemoryLimit {
    /// The limit in bytes, read once. Later changes are not noticed.
    static let ofProcess = min(controlGroup(readFile) ?? .max, resourceLimits, max(machine, 1))

    private static var machine: Int { Int(clamping: ProcessInfo.processInfo.physicalMemory) }

    /// The limits of getrlimit(2) for the address space and for private writable memory.
    private static var resourceLimits: Int {
        [__rlimit_resource_t(RLIMIT_AS.rawValue), __rlimit_resource_t(RLIMIT_DATA.rawValue)].reduce(.max) {
            least, resource in
            var limit = rlimit()
            guard getrlimit(resource, &limit) == 0, limit.rlim_cur != rlim_t.max else { return least }
            return min(least, Int(clamping: limit.rlim_cur))
        }
    }

    /// Returns the memory limit of the control group and its ancestors; nil without one.
    ///
    /// It reads cgroups(7) of version 2, and of version 1 in containers.
    ///
    /// - Parameter read: returns the text of a file, or nil.
    static func controlGroup(_ read: (String) -> String?) -> Int? {
        func limit(_ file: String) -> Int? {
            // No limit is "max" in version 2, and a number near 2^63 in version 1.
            read(file).flatMap { Int($0.prefix { $0.isASCII && $0.isNumber }) }.flatMap {
                $0 > 0 && $0 < 1 << 60 ? $0 : nil
            }
        }
        var limits = [limit("/sys/fs/cgroup/memory/memory.limit_in_bytes"), limit("/sys/fs/cgroup/memory.max")]
        let group = read("/proc/self/cgroup")?.split(separator: "\n").first { $0.hasPrefix("0::/") }?.dropFirst(
            "0::".count)
        var path = group.map(String.init) ?? "/"
        for _ in 0..<16 where path != "/" && !path.isEmpty {
            limits.append(limit("/sys/fs/cgroup\(path)/memory.max"))
            path = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        }
        return limits.compactMap(\.self).min()
    }

    private static func readFile(_ path: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        return (try? file.read(upToCount: 4096)).map { String(decoding: $0, as: UTF8.self) }
    }
}

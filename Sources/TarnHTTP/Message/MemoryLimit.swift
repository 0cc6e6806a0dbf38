// How much memory the process may use: the smallest of what the machine has and what limits say.

import Foundation
import Glibc

enum MemoryLimit {
    /// In bytes. Limits that change later are not noticed.
    static let ofProcess = min(controlGroup(readFile) ?? .max, resourceLimits, max(machine, 1))

    private static var machine: Int { Int(clamping: ProcessInfo.processInfo.physicalMemory) }

    /// getrlimit(2): of the address space, and of what is private and writable.
    private static var resourceLimits: Int {
        [__rlimit_resource_t(RLIMIT_AS.rawValue), __rlimit_resource_t(RLIMIT_DATA.rawValue)].reduce(.max) { least, resource in
            var limit = rlimit()
            guard getrlimit(resource, &limit) == 0, limit.rlim_cur != rlim_t.max else { return least }
            return min(least, Int(clamping: limit.rlim_cur))
        }
    }

    /// The limit of the control group, and of those that it is in (cgroups(7), version 2, and version 1 as containers show it).
    ///
    /// - Parameter read: the text of a file.
    static func controlGroup(_ read: (String) -> String?) -> Int? {
        func limit(_ file: String) -> Int? {
            // "max" in version 2; in version 1 a number near 2^63.
            read(file).flatMap { Int($0.prefix { $0.isASCII && $0.isNumber }) }.flatMap { $0 > 0 && $0 < 1 << 60 ? $0 : nil }
        }
        var limits = [limit("/sys/fs/cgroup/memory/memory.limit_in_bytes"), limit("/sys/fs/cgroup/memory.max")]
        let group = read("/proc/self/cgroup")?.split(separator: "\n").first { $0.hasPrefix("0::/") }?.dropFirst("0::".count)
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

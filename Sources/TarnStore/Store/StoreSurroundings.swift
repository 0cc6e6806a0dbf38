internal import Glibc
internal import LMDB

/// The surroundings of a store: its file system and the namespace of its processes.
package enum StoreSurroundings {
    /// The name of the network file system of a path, or of its nearest existing parent directory.
    ///
    /// It is nil for a file system of this machine, and for one that is not known.
    package static func networkFileSystem(_ path: String) -> String? {
        if case .network(let name)? = FileSystemKind(at: path) { name } else { nil }
    }

    /// The free and the total bytes of the file system of a path, or of its nearest parent.
    package static func freeSpace(_ path: String) -> (free: UInt64, total: UInt64)? {
        var path = path, status = statvfs()
        while statvfs(path, &status) != 0 {
            guard errno == ENOENT || errno == ENOTDIR, path != "/", path != "." else { return nil }
            let end = path.lastIndex(of: "/")
            path = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        }
        let unit = UInt64(status.f_frsize)
        let free = UInt64(status.f_bavail).multipliedReportingOverflow(by: unit)
        let total = UInt64(status.f_blocks).multipliedReportingOverflow(by: unit)
        guard !free.overflow, !total.overflow else { return nil }
        return (free.partialValue, total.partialValue)
    }

    /// The PID namespace of this process; nil if the system does not tell it.
    package static var processNamespace: UInt64? { StoreLock.processNamespace }
}

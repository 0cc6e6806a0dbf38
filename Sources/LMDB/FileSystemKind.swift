// File systems on which a memory map with locks is safe.

import CLMDB
import Glibc

/// The kind of a file system, derived from the type number of `statfs`.
///
/// lmdb.h, "Caveats": "Do not use LMDB databases on remote filesystems, even between processes on
/// the same host. This breaks flock() on some OSes, possibly memory map sync, and certainly sync
/// between programs on different hosts."
public enum FileSystemKind: Sendable, Hashable {
    /// A file system of this machine, or one that is not known.
    case local
    /// A file system that another machine may change, or that a program serves (FUSE, 9p).
    case network(name: String)

    /// Creates the kind for a type number.
    ///
    /// - Parameter type: `f_type` of `statfs(2)`; the values are those of its manual page and of
    ///   linux/magic.h.
    public init(type: UInt32) {
        let name: String? =
            switch type {
            case 0x6969: "NFS"
            case 0x517B: "SMB"
            case 0xFE53_4D42: "SMB2"
            case 0xFF53_4D42: "CIFS"
            case 0x0102_1997: "9p"
            case 0x6573_5546: "FUSE"
            case 0x5346_414F, 0x6B41_4653: "AFS"
            case 0x7375_7245: "Coda"
            case 0x564C: "NCP"
            case 0x00C3_6400: "Ceph"
            case 0x0BD0_0BD0: "Lustre"
            case 0x0116_1970: "GFS2"
            case 0x7461_636F: "OCFS2"
            case 0x786F_4256: "VirtualBox shared folder"
            default: nil
            }
        self = name.map { .network(name: $0) } ?? .local
    }

    /// Creates the kind of the file system of a path, or of its nearest existing parent directory.
    ///
    /// The result is nil if the system reports an error.
    init?(path: String) {
        var path = path
        var status = statfs()
        while statfs(path, &status) != 0 {
            guard errno == ENOENT || errno == ENOTDIR, path != "/", path != "." else { return nil }
            let end = path.lastIndex(of: "/")
            path = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        }
        self.init(type: UInt32(truncatingIfNeeded: status.f_type))
    }
}

extension FileSystemKind {
    /// The kind of the file system of a path, or of its nearest existing parent directory; nil if
    /// the system reports an error.
    package init?(at path: String) { self.init(path: path) }
}

extension Environment.Options {
    /// Refuses a network file system unless the options allow it.
    ///
    /// - Throws: `.networkFileSystem`.
    func check(_ kind: FileSystemKind?, path: String) throws(LMDBError) {
        if !allowsNetworkFileSystem, case .network? = kind {
            throw LMDBError(.networkFileSystem, operation: "open", path: path)
        }
    }
}

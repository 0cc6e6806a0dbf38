import Glibc

/// The identity of a file, independent of its name: device and inode.
package struct FileIdentity: Hashable, Sendable {
    var device: UInt64
    var inode: UInt64

    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }

    /// The text of the identity in a message or a lock's record: `2049:1234`.
    package var text: String { "\(device):\(inode)" }
}

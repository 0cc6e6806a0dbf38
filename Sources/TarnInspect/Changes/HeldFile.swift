import Glibc

/// A file that is held open: the next file cannot get its inode when it is deleted.
final class HeldFile: Sendable {
    private let descriptor: Int32
    private let device: UInt64, inode: UInt64

    /// Opens a file for reading; nil if that is not possible.
    init?(path: String) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        let isFile = descriptor >= 0 && fstat(descriptor, &status) == 0
        (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
        guard isFile else { return nil }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    func isSame(as other: HeldFile) -> Bool { device == other.device && inode == other.inode }
}

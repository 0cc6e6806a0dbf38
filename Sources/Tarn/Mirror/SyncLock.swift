// Locks on endpoints: a second sync of the same store learns which process scans them.

import Foundation
import Glibc
import Locking
import TarnStore

/// The endpoints that one sync scans, locked in `claims.lock` of the store's directory.
///
/// A lock belongs to the open file description (fcntl(2), "Open file description locks") and ends
/// with the process that holds it, even if that is killed. Each endpoint has a region of 2²³ bytes
/// above those of the cache's locks. The first byte of a region is the lock; one more byte is
/// locked at the process id of the holder, where other processes find it. Linux has at most 2²²
/// process ids.
final class SyncLock: Sendable {
    private let file: LockDescriptor
    private var descriptor: Int32 { file.number }

    /// Another sync holds an endpoint.
    struct Taken: Error {
        var endpoint: String
        /// The process that holds it; nil if that has ended meanwhile.
        var processID: Int32?
    }

    /// Claims all of the endpoints, or none.
    ///
    /// - Returns: nil if the file system has no such locks: then a second sync is not prevented.
    /// - Throws: ``Taken``; `StoreError.lmdb` if the file cannot be opened or locked.
    static func claim(_ endpoints: [String], directory: String) throws -> SyncLock? {
        // If not all locks are granted, deinit releases the others.
        try claim(endpoints, directory: directory) { throw $0 }
    }

    /// Claims those of the endpoints that no other sync holds.
    ///
    /// - Returns: the lock, as of ``claim(_:directory:)``, and the endpoints that others hold.
    /// - Throws: `StoreError.lmdb` if the file cannot be opened or locked.
    static func claimFree(_ endpoints: [String], directory: String) throws -> (lock: SyncLock?, taken: [Taken]) {
        var taken: [Taken] = []
        let lock = try claim(endpoints, directory: directory) { taken.append($0) }
        return (lock, taken)
    }

    private static func claim(
        _ endpoints: [String], directory: String, whenTaken: (Taken) throws -> Void
    ) throws -> SyncLock? {
        let path = directory + "/claims.lock"
        let descriptor = Store.openFile(path, in: directory)
        // Without the lock, another process would do all of it a second time.
        guard descriptor >= 0 else {
            throw StoreError.file(path, errno, operation: "open")
        }
        let claim = SyncLock(descriptor)
        for endpoint in endpoints {
            let region = region(of: endpoint)
            switch claim.lock(region) {
            case .granted: _ = claim.lock(region + 1 + Int64(getpid()))
            case .taken: try whenTaken(Taken(endpoint: endpoint, processID: claim.holder(of: region)))
            case .impossible: return nil
            case .failed(let code): throw StoreError.file(path, code, operation: "lock")
            }
        }
        return claim
    }

    /// The process that scans an endpoint into a store at this moment; nil if there is none.
    static func holder(of endpoint: String, directory: String) -> Int32? {
        let descriptor = open(directory + "/claims.lock", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        return SyncLock(descriptor).holder(of: region(of: endpoint))
    }

    /// Whether no process holds a lock; false if that cannot be told.
    static func isFree(_ endpoint: String, directory: String) -> Bool {
        let descriptor = open(directory + "/claims.lock", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return errno == ENOENT }
        let file = SyncLock(descriptor)
        var lock = SyncLock.exclusive(region(of: endpoint), 1)
        // F_OFD_GETLK, as below.
        return fcntl(file.descriptor, 36, &lock) == 0 && lock.l_type == Int16(F_UNLCK)
    }

    private init(_ descriptor: Int32) { file = LockDescriptor(descriptor) }

    /// Unlocks before it closes the file.
    ///
    /// A process that another thread starts shares the open file description between fork and exec,
    /// and with it the locks.
    deinit {
        var lock = SyncLock.exclusive(0, 0)
        lock.l_type = Int16(F_UNLCK)
        // F_OFD_SETLK, as below. A length of 0 covers the whole file.
        _ = fcntl(descriptor, 37, &lock)
    }

    private static let size: Int64 = 1 << 23

    /// The region of an endpoint: above 2⁶², where no lock of a cache is located.
    private static func region(of endpoint: String) -> Int64 {
        let number = Int64(SHA256.hexadecimal("sync\n" + endpoint).prefix(15), radix: 16) ?? 0
        return 1 << 62 | number & ~(size - 1)
    }

    private enum Outcome {
        case granted, taken
        /// The file system has no such locks.
        case impossible
        case failed(Int32)
    }

    private func lock(_ position: Int64) -> Outcome {
        var lock = SyncLock.exclusive(position, 1)
        // F_OFD_SETLK of <fcntl.h>, which Swift's Glibc does not import.
        while fcntl(descriptor, 37, &lock) != 0 {
            switch errno {
            case EINTR: continue
            case EAGAIN, EACCES: return .taken
            case EINVAL, ENOTSUP, ENOSYS, ENOLCK: return .impossible
            default: return .failed(errno)
            }
        }
        return .granted
    }

    /// The process that has locked the byte at its process id.
    private func holder(of region: Int64) -> Int32? {
        var lock = SyncLock.exclusive(region + 1, SyncLock.size - 1)
        // F_OFD_GETLK returns a conflicting lock; its position is the process id.
        guard fcntl(descriptor, 36, &lock) == 0, lock.l_type != Int16(F_UNLCK) else { return nil }
        return Int32(exactly: Int64(lock.l_start) - region - 1)
    }

    private static func exclusive(_ start: Int64, _ length: Int64) -> flock {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = off_t(start)
        lock.l_len = off_t(length)
        return lock
    }
}

// Locks on requests among processes that share a store: one fetches, the others wait.

import Foundation
import Glibc
import Locking
import TarnStore

/// Locks on requests: each is a lock on one byte of `claims.lock` in the store's directory.
///
/// The request's digest determines the position of the byte. The lock belongs to the open file
/// description (fcntl(2), "Open file description locks") and ends with the process that holds it: a
/// killed process blocks no other, and nothing has to be cleaned up. Two requests whose digests
/// share 62 bits wait for each other, and both are answered. One more byte is locked at the process
/// id of the holder, in a region above all requests, as in ``SyncLock``.
final class RequestLock: Sendable {
    private let file: LockDescriptor
    private var descriptor: Int32 { file.number }
    /// The number of transfers in this process that hold each byte.
    ///
    /// An abandoned transfer may end after the next one has begun.
    private let held = Guarded<[Int: Int]>([:])
    /// The number of shared locks of this process on each byte.
    private let shared = Guarded<[Int: Int]>([:])

    /// Opens the lock file; nil if that fails: then each process fetches for itself.
    init?(directory: String) {
        let descriptor = Store.openFile(directory + "/claims.lock", in: directory)
        guard descriptor >= 0 else { return nil }
        file = LockDescriptor(descriptor)
    }

    enum ReferenceConflict {
        case isOurs
        /// Another process holds the lock: wait.
        case isAnothers
        /// The file system has no such locks, or no more of them: each process fetches for itself.
        case isImpossible
    }

    /// Locks a request, unless another process has. Each lock of this process is released once.
    func claim(_ request: RequestDigest) -> ReferenceConflict {
        let place = RequestLock.place(of: request)
        return held.withLock { held in
            let claim = held[place] == nil ? set(Int16(F_WRLCK), place) : .isOurs
            if claim == .isOurs {
                if held[place] == nil { _ = set(Int16(F_WRLCK), RequestLock.region(of: place) + 1 + Int(getpid())) }
                held[place, default: 0] += 1
            }
            return claim
        }
    }

    /// The process that has locked a request; nil if that is unknown.
    func holder(of request: RequestDigest) -> Int32? {
        let region = RequestLock.region(of: RequestLock.place(of: request))
        var lock = RequestLock.lock(Int16(F_WRLCK), region + 1)
        lock.l_len = off_t(RequestLock.regionSize - 1)
        // F_OFD_GETLK returns a conflicting lock; its position is the process id.
        guard fcntl(descriptor, 36, &lock) == 0, lock.l_type != Int16(F_UNLCK) else { return nil }
        return Int32(exactly: Int(lock.l_start) - region - 1)
    }

    /// Releases a lock. Without one it does nothing.
    func release(_ request: RequestDigest) {
        let place = RequestLock.place(of: request)
        release(place, of: held) { _ = set(Int16(F_UNLCK), RequestLock.region(of: place) + 1 + Int(getpid())) }
    }

    /// Removes one of this process's locks on a byte, and with the last one the lock of the file.
    private func release(_ place: Int, of held: Guarded<[Int: Int]>, last: () -> Void = {}) {
        held.withLock { held in
            guard let count = held[place] else { return }
            held[place] = count > 1 ? count - 1 : nil
            guard count == 1 else { return }
            last()
            _ = set(Int16(F_UNLCK), place)
        }
    }

    /// Shows other processes that a transfer of a resource is under way. Each call is ended once.
    func share(_ resource: UInt64) {
        let place = RequestLock.place(of: resource)
        shared.withLock { shared in
            if shared[place] == nil { _ = set(Int16(F_RDLCK), place) }
            shared[place, default: 0] += 1
        }
    }

    /// Ends a ``share(_:)``.
    func endSharing(_ resource: UInt64) {
        release(RequestLock.place(of: resource), of: shared)
    }

    /// Whether another process may have a transfer of a resource under way.
    func isSharedByAnother(_ resource: UInt64) -> Bool {
        var lock = RequestLock.lock(Int16(F_WRLCK), RequestLock.place(of: resource))
        // F_OFD_GETLK of <fcntl.h>, which Swift's Glibc does not import.
        while fcntl(descriptor, 36, &lock) != 0 {
            guard errno == EINTR else { return true }
        }
        return lock.l_type != Int16(F_UNLCK)
    }

    private static let regionSize = 1 << 23

    /// The region of a byte: above all bytes of requests and resources.
    private static func region(of place: Int) -> Int { 1 << 62 | place & ~(regionSize - 1) }

    /// The byte of a resource.
    private static func place(of resource: UInt64) -> Int { Int(resource & (1 << 62 - 1)) }

    /// The byte of a request. The first eight bytes of digests are equal for similar requests.
    private static func place(of request: RequestDigest) -> Int {
        request.bytes[8..<16].reduce(0) { $0 << 8 | Int($1) } & (1 << 62 - 1)
    }

    private static func lock(_ type: Int16, _ place: Int) -> flock {
        var lock = flock()
        lock.l_type = type
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = place
        lock.l_len = 1
        return lock
    }

    private func set(_ type: Int16, _ place: Int) -> ReferenceConflict {
        var lock = RequestLock.lock(type, place)
        // F_OFD_SETLK of <fcntl.h>, which Swift's Glibc does not import.
        while fcntl(descriptor, 37, &lock) != 0 {
            guard errno == EINTR else { return errno == EAGAIN || errno == EACCES ? .isAnothers : .isImpossible }
        }
        return .isOurs
    }
}

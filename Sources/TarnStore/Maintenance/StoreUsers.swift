// Who has a store open: for messages, and for those who clean up after processes that were killed.

import Foundation
internal import LMDB

/// A process that reads a store, or has a place in its table of readers.
public struct StoreReaderSlot: Sendable, Hashable {
    /// The process, in the namespace of whoever wrote it down.
    public var processID: Int
    /// Nil if the system does not say.
    public var processName: String?
    /// Whether there is no such process any more: nothing that it holds is needed.
    public var isStale: Bool
    /// The transaction of LMDB that its snapshot is of. Nil if it reads nothing at the moment.
    public var transaction: Int?
    /// How many transactions were committed since. As long as the snapshot is held, no page that they have freed is used again.
    public var lag: Int?
}

extension Store {
    /// The places in the table of readers that are taken, by this and other processes, also those of processes that were killed.
    ///
    /// Only processes of the same PID namespace can be told apart.
    ///
    /// - Parameter clearing: whether places of processes that are no more are freed; they are in the list nevertheless.
    /// - Throws: `StoreError` if the store cannot be opened.
    public static func readers(ofStoreAt path: String, clearing: Bool = false) throws -> [StoreReaderSlot] {
        try PinnedFile.withState(ofStoreAt: path, keepsDeadReaders: true) { pinned in
            do throws(LMDBError) {
                let own = Int(getpid()), slots = try pinned.environment.readerSlots()
                if clearing { try pinned.environment.freeSlotsOfDeadProcesses() }
                let last = Int(truncatingIfNeeded: pinned.transaction)
                return slots.filter { $0.processID != own }.map { slot in
                    StoreReaderSlot(
                        processID: Int(slot.processID), processName: ProcessTable.name(slot.processID),
                        isStale: kill(slot.processID, 0) != 0 && errno == ESRCH, transaction: slot.transaction,
                        lag: slot.transaction.map { max(0, last &- $0) })
                }
            } catch {
                throw StoreError.lmdb(error)
            }
        }
    }
}

/// What the system says of processes.
enum ProcessTable {
    static func name(_ process: Int32) -> String? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8) else { return nil }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// A process as it is named in messages: `mirror (1234)`.
    static func describe(_ process: Int32) -> String { name(process).map { "\($0) (\(process))" } ?? "process \(process)" }

    /// The processes that hold a lock of `flock` on a file (proc(5), /proc/locks).
    static func holders(ofFile descriptor: Int32) -> [Int32] {
        var status = stat()
        guard fstat(descriptor, &status) == 0, let text = try? String(contentsOfFile: "/proc/locks", encoding: .utf8) else { return [] }
        // The last of `major:minor:inode`; an inode may stand for files of several devices, whose numbers are in hexadecimal.
        let device = UInt64(status.st_dev), major = (device >> 8) & 0xFFF, minor = (device & 0xFF) | ((device >> 12) & 0xFFF00)
        var found: Set<Int32> = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "FLOCK", let process = Int32(words[4]), process > 0 else { continue }
            let file = words[5].split(separator: ":")
            guard file.count == 3, UInt64(file[0], radix: 16) == major, UInt64(file[1], radix: 16) == minor,
                UInt64(file[2]) == UInt64(status.st_ino)
            else { continue }
            found.insert(process)
        }
        return found.sorted()
    }
}

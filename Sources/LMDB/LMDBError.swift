// Everything that can go wrong in this layer, as one value: static text, the facts beside it, the way out.

import CLMDB
import Glibc

/// An error of the environment, a transaction or a table.
public struct LMDBError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The directory or file is not there.
        case noSuchFile
        /// There is a file, but it is not an LMDB data file of this format.
        case notAnEnvironment
        /// What has the name is no regular file: a directory, a pipe, a socket or a device.
        case notAFile
        /// The data file ends before pages that are in use.
        case truncated
        /// The data file contradicts itself.
        case corrupted
        case permission
        /// A reader cannot register in the lock file, so that writers would use pages again that it reads.
        case cannotLock
        /// The lock file or the data file was deleted or replaced while it was open: its locks protect nothing any more.
        case fileReplaced
        /// A process wrote to the file while it was open as immutable: what was read may be of several commits.
        case notImmutable
        /// The file is open in this process with other options.
        case optionsConflict
        /// On one thread, a write transaction was begun inside a `read` or `write` of the same environment, or tables were
        /// opened inside a `write`.
        case nestedWrite
        /// The environment was opened by the parent process, before `fork`.
        case forked
        case readOnly
        /// The map is full: nothing of the transaction is kept.
        case mapFull
        /// What adds would grow the file past the limit that was set for it: nothing of the transaction is kept.
        case fileLimit
        /// Every slot of the reader table is taken.
        case readersFull
        /// Another process has grown the file past this process's map.
        case mapResized
        /// A key is empty or longer than 511 bytes, or a value is too large.
        case badValueSize
        /// The table is not there.
        case noSuchTable
        case tablesFull
        /// The disk is full or a write failed: the transaction is not committed.
        case diskFull
        case inputOutput
        /// An earlier failed write of the meta page: nothing can be trusted until the file is opened again.
        case poisoned
        /// An earlier error in the transaction, which therefore cannot be committed.
        case transactionFailed
        /// The file is on a network file system, where locks and maps of several machines do not see each other.
        case networkFileSystem
        /// This build of liblmdb is another one than those that are known here.
        case unknownLibrary
        case other
    }

    public var kind: Kind
    /// What was being done: `open`, `begin`, `get`, `put`, `delete`, `cursor`, `commit`, …
    public var operation: String
    /// liblmdb's or the system's code.
    public var code: Int32
    /// The file concerned, where it is known.
    public var path: String?

    public init(_ kind: Kind, operation: String, code: Int32 = 0, path: String? = nil) {
        self.kind = kind
        self.operation = operation
        self.code = code
        self.path = path
    }

    /// The error that a code of liblmdb or of the system stands for.
    package init(code: Int32, operation: String, path: String? = nil) {
        let kind: Kind =
            switch code {
            case MDB_MAP_FULL: .mapFull
            case MDB_READERS_FULL: .readersFull
            case MDB_MAP_RESIZED: .mapResized
            case MDB_BAD_VALSIZE: .badValueSize
            case MDB_INVALID, MDB_VERSION_MISMATCH: .notAnEnvironment
            case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_CURSOR_FULL, MDB_PAGE_FULL: .corrupted
            case MDB_PANIC: .poisoned
            case MDB_BAD_TXN: .transactionFailed
            case MDB_DBS_FULL: .tablesFull
            case MDB_NOTFOUND: .noSuchTable
            case ENOENT: .noSuchFile
            case EACCES, EPERM, EROFS: .permission
            case ENOSPC, EDQUOT: .diskFull
            case EIO: .inputOutput
            default: .other
            }
        self.init(kind, operation: operation, code: code, path: path)
    }

    /// What is wrong, and what to do about it.
    public var description: String {
        let place = path.map { "\($0): " } ?? ""
        let reason = code == 0 ? "" : " (\(String(cString: mdb_strerror(code))))"
        return "\(place)\(message)\(reason), while: \(operation)"
    }

    private var message: String {
        switch kind {
        case .noSuchFile: "there is no such file or directory"
        case .notAnEnvironment: "this is not an LMDB data file of a format that can be read here"
        case .truncated: "the data file is shorter than the pages in use; restore it from a backup"
        case .corrupted: "the data file is damaged; restore it from a backup"
        case .notAFile: "this is a directory, a pipe, a socket or a device, and has to be a regular file"
        case .permission: "no permission; check the owner and mode of the directory and its files"
        case .cannotLock:
            "readers register in this file, and it cannot be written; allow writing to the lock files (lock.mdb, store.lock), or, if nothing writes to the store, read it without locks (`isImmutable`, `--immutable`)"
        case .fileReplaced:
            "the file was deleted or replaced while it was open, so that other processes do not see its locks; nothing was written. Close it in every process, and open it again"
        case .notImmutable:
            "a process wrote to the file while it was read without locks, and what was read may be of several commits; read it with locks, or stop that process"
        case .diskFull where operation == "lock":
            "the disk is full, and the lock file needs room; free some, or, if nothing writes to the store, read it without locks (`isImmutable`, `--immutable`)"
        case .optionsConflict: "the file is already open in this process with other options; open it with the same ones"
        case .nestedWrite: "a write cannot begin inside a read or write of the same file, nor tables be opened inside a write; return from it first"
        case .forked: "the file was opened before fork; open it again in the child process"
        case .readOnly: "the file is open read-only"
        case .mapFull: "the map is full and nothing of this transaction was kept; open with a larger map"
        case .fileLimit: "the file has reached its limit and nothing of this transaction was kept; delete something or raise the limit"
        case .readersFull: "every reader slot is taken; end reads that last long, or clear stale readers"
        case .mapResized: "another process has grown the file past this process's map; open it again"
        case .badValueSize: "a key must have 1 to 511 bytes and a value less than 2 GiB"
        case .noSuchTable: "there is no such table"
        case .tablesFull: "no more tables can be opened; open with a larger limit"
        case .diskFull: "the disk is full; nothing of this transaction was kept"
        case .inputOutput: "reading or writing failed, perhaps because the disk is full; nothing of this transaction was kept"
        case .poisoned: "an earlier write of the meta page failed; close the file and open it again"
        case .transactionFailed: "an earlier error ended this transaction; nothing of it was kept"
        case .networkFileSystem: "the file is on a network file system, where it can be damaged; use a local disk, or force it"
        case .unknownLibrary: "this build of liblmdb does not show the size of the file; use liblmdb 0.9 or set no limit"
        case .other: "liblmdb reports an error"
        }
    }
}

/// Throws unless a liblmdb call returned success.
@inline(__always)
func check(_ code: Int32, _ operation: StaticString, path: @autoclosure () -> String? = nil) throws(LMDBError) {
    guard code == MDB_SUCCESS else { throw LMDBError(code: code, operation: "\(operation)", path: path()) }
}

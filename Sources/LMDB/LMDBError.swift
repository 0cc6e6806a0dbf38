// The errors of this layer: static text, facts in fields, and the way out.

import CLMDB
import Glibc
import Locking

/// An error of the environment, a transaction or a table.
public struct LMDBError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The directory or file does not exist.
        case noSuchFile
        /// The file is not an LMDB data file of this format.
        case notAnEnvironment
        /// The path leads to a directory, a pipe, a socket or a device instead of a regular file.
        case notAFile
        /// The data file ends before pages that are in use.
        case truncated
        /// The content of the data file is inconsistent.
        case corrupted
        /// The data file has several names, so its users may not see each other's locks.
        case severalNames
        /// The file system denies access.
        case permission
        /// A reader cannot register in the lock file, so writers would reuse pages that it reads.
        case cannotLock
        /// The lock file or the data file was deleted or replaced while open; its locks are void.
        case fileReplaced
        /// A process wrote to a file that is open as immutable; reads may mix several commits.
        case notImmutable
        /// The file is already open in this process with other options.
        case optionsConflict
        /// A write began inside a `read` or `write` of the same environment on the same thread.
        ///
        /// Opening tables inside a `write` is the same error.
        case nestedWrite
        /// The environment was opened by the parent process, before `fork`.
        case forked
        /// The environment is read-only.
        case readOnly
        /// The map is full; nothing of the transaction is kept.
        case mapFull
        /// An addition would grow the file past its limit; nothing of the transaction is kept.
        case fileLimit
        /// All slots of the reader table are occupied.
        case readersFull
        /// Another process has grown the file past this process's map.
        case mapResized
        /// A key is empty or longer than 511 bytes, or a value is too large.
        case badValueSize
        /// The table does not exist.
        case noSuchTable
        /// No further table can be opened.
        case tablesFull
        /// The disk is full; the transaction is not committed.
        case diskFull
        /// A read or write failed (EIO); the transaction is not committed.
        case inputOutput
        /// An earlier write of the meta page failed; the environment must be reopened.
        case poisoned
        /// An earlier error in the transaction prevents its commit.
        case transactionFailed
        /// The file is on a network file system, where locks and maps are local to each machine.
        case networkFileSystem
        /// This build of liblmdb has an unknown memory layout.
        case unknownLibrary
        /// Any other error of liblmdb or of the system.
        case other
    }

    /// The kind of the error.
    public var kind: Kind
    /// The failed operation: `open`, `begin`, `get`, `put`, `delete`, `cursor`, `commit`, `thread`,
    /// …
    public var operation: String
    /// The error code of liblmdb or of the system; 0 if Tarn found the error.
    public var code: Int32
    /// The file concerned, if it is known.
    public var path: String?

    /// Creates an error of a kind.
    public init(_ kind: Kind, operation: String, code: Int32 = 0, path: String? = nil) {
        self.kind = kind
        self.operation = operation
        self.code = code
        self.path = path
    }

    /// Creates the error for a code of liblmdb or of the system.
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
            // A directory cannot be opened for writing, a socket not at all.
            case EISDIR, ENXIO: .notAFile
            case EACCES, EPERM, EROFS: .permission
            case ENOSPC, EDQUOT: .diskFull
            case EIO: .inputOutput
            default: .other
            }
        self.init(kind, operation: operation, code: code, path: path)
    }

    /// The problem and its remedy.
    public var description: String {
        let place = path.map { "\($0): " } ?? ""
        let reason = code == 0 ? "" : ": \(String(cString: mdb_strerror(code)))"
        return "\(place)\(message) (\(operation)\(reason))"
    }

    /// The part of a message that applies only where a file can be opened as immutable.
    private static let immutableAdvice =
        ", or, if no process writes to the store, read it without locks (`isImmutable`, `--immutable`)"

    /// The description for callers that cannot open a file as immutable.
    package var descriptionForLocking: String { description.replacing(LMDBError.immutableAdvice, with: "") }

    private var message: String {
        switch kind {
        case .noSuchFile: "no such file or directory"
        case .notAnEnvironment: "not an LMDB data file, or of an unsupported format"
        case .truncated: "the data file is shorter than the pages in use; restore it from a backup"
        case .corrupted: "the data file is damaged; restore it from a backup"
        case .notAFile: "not a regular file, but a directory, a pipe, a socket or a device"
        case .severalNames:
            "the data file is a symbolic link or has hard links: programs that open it by another name do not see the locks, and updates are lost. Name the store's own directory, or replace the link by a copy"
        case .permission where code == EROFS: "the file system is read-only; mount it for writing, or copy the store"
        case .permission: "permission denied; check the owner and the mode of the directory and its files"
        case .cannotLock where code == EROFS:
            "readers register in this file, but the file system is read-only; copy the store\(LMDBError.immutableAdvice)"
        case .cannotLock:
            "cannot write to this file, in which readers register; make the lock files (lock.mdb, store.lock) writable\(LMDBError.immutableAdvice)"
        case .fileReplaced:
            "the file was deleted or replaced while it was open, so other processes do not see its locks; nothing was written. Close it in every process and open it again"
        case .notImmutable:
            "another process wrote to the file while it was read without locks, so the result may mix several commits; read it with locks, or stop that process"
        case .diskFull where operation == "lock":
            "the disk is full, and the lock file needs space; free some\(LMDBError.immutableAdvice)"
        case .optionsConflict:
            "the file is already open in this process with other options; open it with the same options"
        case .nestedWrite:
            "nested transaction: a write inside a read or write of the same file, or the opening of a table inside a write; end the outer transaction first"
        case .forked: "the file was opened before fork; open it again in the child process"
        case .readOnly: "the file is open read-only"
        case .mapFull: "the map is full; nothing was written. Open the file with a larger map"
        case .fileLimit:
            "the file has reached its size limit; nothing was written. Delete records, or raise the limit"
        case .readersFull: "all reader slots are in use; end long reads, or clear stale readers"
        case .mapResized: "another process has grown the file beyond the map of this process; open it again"
        case .badValueSize: "a key must have 1 to 511 bytes, and a value less than 2 GiB"
        case .noSuchTable: "no such table"
        case .tablesFull: "the limit of open tables is reached; open the file with a larger limit"
        case .diskFull: "the disk is full; nothing was written"
        case .inputOutput:
            "input/output error, possibly because the disk is full, or the file larger than allowed (see `ulimit -f`); nothing was written"
        case .poisoned: "an earlier write of the meta page failed; close the file and open it again"
        case .transactionFailed: "an earlier error ended this transaction; nothing was written"
        case .networkFileSystem:
            "the file is on a network file system, where LMDB cannot protect it from damage; use a local disk, or force it"
        case .unknownLibrary:
            "this build of liblmdb does not report the size of the file; use liblmdb 0.9, or set no limit"
        case .other where code == ENOMEM && operation == "open":
            "the system does not grant this process the address space of the file: close other stores, or raise the limits (`ulimit -v`, and `vm.max_map_count`)"
        case .other where operation == "thread": SystemThread.refusal
        case .other where code == EFBIG:
            "the file would be larger than the system allows (see `ulimit -f`); nothing was written"
        case .other where code == EMFILE || code == ENFILE:
            "too many open files; close some, or raise the limit (see `ulimit -n`)"
        // The codes of liblmdb are negative (lmdb.h), those of the system are not.
        case .other where code > 0: "the system refuses it"
        case .other: "error of liblmdb"
        }
    }
}

/// Throws unless a liblmdb call returned success.
@inline(__always)
func check(_ code: Int32, _ operation: StaticString, path: @autoclosure () -> String? = nil) throws(LMDBError) {
    guard code == MDB_SUCCESS else { throw LMDBError(code: code, operation: "\(operation)", path: path()) }
}

// Operations on an environment: copies, reader slots, and the descriptor of the data file.

import CLMDB
import Glibc

extension Environment {
    /// Writes a copy of the newest snapshot to a file. Other transactions continue meanwhile.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor of an empty file.
    ///   - isCompacted: Whether free pages are left out and the others renumbered, so that the copy
    ///     has the minimum size; while the copy is written, the snapshot's pages are not reused.
    ///     Otherwise the pages are copied as they are, and writers wait briefly at the beginning.
    /// - Throws: `LMDBError`: `.nestedWrite` if this thread is inside a `read` or `write`,
    ///   `.diskFull`, `.inputOutput`; `.corrupted` if a compacted copy would lack pages;
    ///   `.notImmutable` if the environment is immutable and the copy may mix several commits.
    public func copy(to descriptor: Int32, isCompacted: Bool) throws(LMDBError) {
        try checkProcess("copy")
        guard threadDepth.value == 0 else { throw LMDBError(.nestedWrite, operation: "copy", path: path) }
        let last = lastTransaction
        let code = mdb_env_copyfd2(env, descriptor, isCompacted ? UInt32(MDB_CP_COMPACT) : 0)
        // Checked first: mixed pages may look like damage.
        if options.isImmutable { try checkIsUnchanged(since: last, "copy") }
        // "page leak or corrupt DB" (mdb.c, `mdb_env_copyfd1`).
        guard code != MDB_INCOMPATIBLE else { throw LMDBError(.corrupted, operation: "copy", path: path) }
        try check(code, "copy", path: path)
        guard fsync(descriptor) == 0 else { throw LMDBError(code: errno, operation: "copy", path: path) }
    }

    /// Returns the occupied slots of the reader table, of all processes.
    public func readerSlots() throws(LMDBError) -> [ReaderSlot] {
        try checkProcess("readers")
        final class Text { var text = "" }
        let lines = Text()
        // One line for each slot: process id, thread, transaction or `-` (mdb.c,
        // `mdb_reader_list`).
        let code = mdb_reader_list(
            env,
            { message, context in
                guard let message, let context else { return 0 }
                Unmanaged<Text>.fromOpaque(context).takeUnretainedValue().text += String(cString: message)
                return 0
            }, Unmanaged.passUnretained(lines).toOpaque())
        guard code >= 0 else { throw LMDBError(code: code, operation: "readers", path: path) }
        return lines.text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 3, let process = Int32(words[0]) else { return nil }
            return ReaderSlot(processID: process, transaction: Int(words[2]))
        }
    }

    /// Frees the slots of processes that have died.
    ///
    /// - Returns: The number of freed slots.
    @discardableResult
    public func freeSlotsOfDeadProcesses() throws(LMDBError) -> Int {
        try checkProcess("readers")
        var dead: Int32 = 0
        try check(mdb_reader_check(env, &dead), "readers", path: path)
        return Int(dead)
    }

    /// The size of the reader table, and the highest number of slots that were occupied at once.
    ///
    /// Reads no page.
    package var readerTable: (used: Int, all: Int) {
        var information = MDB_envinfo()
        guard mdb_env_info(env, &information) == 0 else { return (0, 0) }
        return (Int(information.me_numreaders), Int(information.me_maxreaders))
    }

    /// The number of the last commit.
    ///
    /// Reads no page, and needs no slot of the reader table.
    package var lastTransaction: Int {
        var information = MDB_envinfo()
        guard mdb_env_info(env, &information) == 0 else { return 0 }
        // A damaged file may have any number here.
        return Int(truncatingIfNeeded: information.me_last_txnid)
    }

    /// The descriptor through which liblmdb reads the data file.
    ///
    /// It is valid as long as the environment, and must not be closed. No second descriptor may be
    /// opened and closed beside it (lmdb.h, "Caveats").
    package var dataDescriptor: Int32 {
        get throws(LMDBError) {
            var descriptor: Int32 = -1
            try check(mdb_env_get_fd(env, &descriptor), "open", path: path)
            return descriptor
        }
    }

    /// Returns the environment of a directory if it is open in this process, with any options.
    package static func opened(at path: String) -> Environment? { OpenEnvironments.environment(at: path) }
}

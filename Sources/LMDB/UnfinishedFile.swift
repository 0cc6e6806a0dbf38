// A data file whose making was cut off: by a full disk, or by the end of the process.
//
// liblmdb makes a file by writing both meta pages in one call. If only the first of them arrived, or after a loss of power only one of
// them or none, it refuses the file for ever. Nothing was ever stored in such a file, so it can be made again. What comes behind the meta
// pages is written only after they are on the disk: see `Environment.open`.

import Glibc

enum UnfinishedFile {
    private static let metaSize = 152
    /// How long, in milliseconds, another process may need to make the file that is found half made.
    private static let patience = 1000

    /// Empties the data file of a directory if it was never finished; liblmdb then makes it again. Like `DataFile.check`, only
    /// for a file that is not open in this process.
    ///
    /// - Throws: `LMDBError` if `lock.mdb` cannot be opened, or the file not changed.
    static func empty(in directory: String) throws(LMDBError) {
        let path = directory + "/data.mdb"
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
        // What cannot be opened is judged by who comes next.
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        for _ in 0..<patience {
            guard isUnfinished(descriptor) else { return }
            if try emptyAlone(descriptor, directory + "/lock.mdb", path) { return }
            usleep(1000)
        }
    }

    /// Not longer than two pages, each of which is the meta page of transaction 0 without any root (`struct MDB_meta`), or has nothing but
    /// zeros, or is not all there; and not both of the first kind and whole. No transaction has been written through it. What is shorter than the content of a
    /// meta page may be anything.
    private static func isUnfinished(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size >= metaSize, status.st_size <= 2 * largestPage else { return false }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count else { return false }
        let said = bytes.u32(16) == DataFile.magic ? Int(bytes.u32(40)) : Int(sysconf(Int32(_SC_PAGESIZE)))
        guard said >= metaSize, bytes.count <= 2 * said else { return false }
        let pages = [bytes[..<min(said, bytes.count)], bytes[min(said, bytes.count)...]].map(Array.init)
        let areFresh = pages.map(isFreshMeta)
        guard areFresh != [true, true] || bytes.count < 2 * said else { return false }
        return zip(pages, areFresh).allSatisfy { page, isFresh in
            // The beginning of a second one says nothing yet.
            isFresh || page.allSatisfy { $0 == 0 } || (page.count < metaSize && areFresh[0])
        }
    }

    private static let largestPage = 65536

    private static func isFreshMeta(_ page: [UInt8]) -> Bool {
        page.count >= metaSize && page.u32(16) == DataFile.magic && page.u64(80) == DataFile.invalidPage
            && page.u64(128) == DataFile.invalidPage && page.u64(144) == 0
    }

    /// Empties the file under the lock that liblmdb itself holds from before it makes the file until after it
    /// (`mdb_env_excl_lock`: the first byte of `lock.mdb`). False if another process has it.
    private static func emptyAlone(_ descriptor: Int32, _ lockPath: String, _ path: String) throws(LMDBError) -> Bool {
        let lock = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, FileMode.of(path) ?? 0o600)
        guard lock >= 0 else { throw LMDBError(code: errno, operation: "open", path: lockPath) }
        defer { close(lock) }
        var range = flock()
        range.l_type = Int16(F_WRLCK)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = 0
        range.l_len = 1
        guard fcntl(lock, F_SETLK, &range) == 0 else { return false }
        guard !isUnfinished(descriptor) || ftruncate(descriptor, 0) == 0 else {
            throw LMDBError(code: errno, operation: "open", path: path)
        }
        return true
    }
}

// A data file whose making was cut off: by a full disk, or by the end of the process.
//
// liblmdb makes a file by writing both meta pages in one call. If only the first of them arrived, it refuses the file for
// ever. Nothing was ever stored in such a file, so it can be made again.

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
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        // What cannot be opened is judged by who comes next.
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        for _ in 0..<patience {
            guard isUnfinished(descriptor) else { return }
            if try emptyAlone(descriptor, directory + "/lock.mdb", path) { return }
            usleep(1000)
        }
    }

    /// Shorter than two pages, and the first is the meta page of transaction 0 without any root (`struct MDB_meta`): no
    /// transaction has been written through it. What is shorter than that page's content may be anything.
    private static func isUnfinished(_ descriptor: Int32) -> Bool {
        var status = stat()
        var page = [UInt8](repeating: 0, count: metaSize)
        guard fstat(descriptor, &status) == 0, status.st_size >= metaSize,
            pread(descriptor, &page, metaSize, 0) == metaSize
        else { return false }
        let pageSize = Int(page.u32(40))
        return page.u32(16) == DataFile.magic && status.st_size < 2 * pageSize && page.u64(80) == DataFile.invalidPage
            && page.u64(128) == DataFile.invalidPage && page.u64(144) == 0
    }

    /// Empties the file under the lock that liblmdb itself holds from before it makes the file until after it
    /// (`mdb_env_excl_lock`: the first byte of `lock.mdb`). False if another process has it.
    private static func emptyAlone(_ descriptor: Int32, _ lockPath: String, _ path: String) throws(LMDBError) -> Bool {
        let lock = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
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

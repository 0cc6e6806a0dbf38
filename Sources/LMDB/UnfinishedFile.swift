// A data file whose creation was interrupted, by a full disk or by the end of the process.
//
// liblmdb creates a file by writing both meta pages in one call. If only the first one was written,
// or if a loss of power kept only one of them or none, liblmdb refuses the file for ever. Such a
// file never stored data, so it can be recreated. Pages behind the meta pages are written only
// after these are on the disk: see `Environment.open`.

import Glibc
import LMDBPages

enum UnfinishedFile {
    /// The time, in milliseconds, that another process may need to complete an unfinished file.
    private static let patience = 1000

    /// Empties the data file of a directory if it is unfinished; liblmdb then recreates it.
    ///
    /// As for `DataFile.check`, the file must not be open in this process.
    ///
    /// - Throws: `LMDBError` if `lock.mdb` cannot be opened or the file cannot be truncated.
    static func empty(in directory: String) throws(LMDBError) {
        let path = directory + "/data.mdb"
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
        // The next check reports a file that cannot be opened.
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        for _ in 0..<patience {
            guard isUnfinished(descriptor) else { return }
            if try emptyAlone(descriptor, directory, path) { return }
            usleep(1000)
        }
    }

    /// Returns whether the file contains no transaction and lacks a complete pair of meta pages.
    ///
    /// An unfinished file has at most two pages. Each is the meta page of transaction 0 without any
    /// root (`struct MDB_meta`), or all zeros, or cut short; and they are not two complete meta
    /// pages. A file shorter than the content of a meta page may be anything and does not count.
    private static func isUnfinished(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size >= MetaPage.size,
            status.st_size <= 2 * PageLayout.pageSizes.upperBound
        else {
            return false
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count else { return false }
        let first = bytes.withUnsafeBytes { MetaPage($0, number: 0) }.flatMap { $0.magic == MetaPage.magic ? $0 : nil }
        let said = first?.pageSize ?? Int(sysconf(Int32(_SC_PAGESIZE)))
        guard said >= MetaPage.size, bytes.count <= 2 * said else { return false }
        let pages = [bytes[..<min(said, bytes.count)], bytes[min(said, bytes.count)...]].map(Array.init)
        let areFresh = pages.map(isFreshMeta)
        guard areFresh != [true, true] || bytes.count < 2 * said else { return false }
        return zip(pages, areFresh).allSatisfy { page, isFresh in
            // A second page that is cut within its meta data has no valid content yet.
            isFresh || page.allSatisfy { $0 == 0 } || (page.count < MetaPage.size && areFresh[0])
        }
    }

    private static func isFreshMeta(_ page: [UInt8]) -> Bool {
        page.withUnsafeBytes { MetaPage($0, number: 0)?.isUnused ?? false }
    }

    /// Empties the file under the lock that liblmdb holds while it creates the file.
    ///
    /// The lock is on the first byte of `lock.mdb` (`mdb_env_excl_lock`).
    ///
    /// - Returns: False if another process holds the lock.
    private static func emptyAlone(_ descriptor: Int32, _ directory: String, _ path: String) throws(LMDBError) -> Bool {
        let lockPath = directory + "/lock.mdb"
        let lock = FileMode.openFile(lockPath, in: directory, O_RDWR | O_NONBLOCK)
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

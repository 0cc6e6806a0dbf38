// The greatest size of the files that a command writes.

import Foundation
import Tarn

enum FileSizeLimit {
    /// Twice the store's size, and room for the lock files and for commits meanwhile.
    private static let room: UInt = 64 << 20

    /// The greatest size of the copy of a file: damaged files, and sparse ones, have any size.
    static func limit(ofCopyOf size: Int) -> UInt {
        let size = UInt(clamping: size), most = UInt(Int.max)
        return size > (most - room) / 2 ? most : 2 * size + room
    }

    /// Runs a closure that copies a store, and fails if the copy is to be much larger than the
    /// store.
    ///
    /// liblmdb follows the pages of a damaged file without end if they form a loop, and would fill
    /// the disk.
    static func ofCopy<Result>(_ store: String, _ body: () throws -> Result) throws -> Result {
        var status = stat(), before = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        guard stat(store + "/data.mdb", &status) == 0, getrlimit(resource, &before) == 0 else { return try body() }
        let limit = FileSizeLimit.limit(ofCopyOf: Int(status.st_size))
        // SIGXFSZ is ignored: a write beyond the limit is an error.
        var lowered = before
        lowered.rlim_cur = min(before.rlim_cur, limit)
        setrlimit(resource, &lowered)
        defer { setrlimit(resource, &before) }
        do {
            return try body()
        } catch StoreError.lmdb(let error) where error.code == EFBIG && before.rlim_cur > limit {
            throw Failure(
                .store,
                "\(store): the data file is damaged: its pages form a loop, and the copy of \(byteText(Int(status.st_size))) "
                    + "would be larger than \(byteText(Int(clamping: limit))); nothing was copied. "
                    + "See `tarn inspect verify \(store)`; restore a backup, or copy the readable records: "
                    + "`tarn inspect salvage \(store) NEW`")
        }
    }
}

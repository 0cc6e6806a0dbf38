// The checks of a data file that precede its mapping, read with `pread`.
//
// liblmdb trusts the file: a truncated one opens without complaint, and the first access to a
// missing page kills the process with SIGBUS. Therefore the meta pages, the roots and the size are
// checked first. The layout is that of data format 1 (liblmdb 0.9): `struct MDB_meta` and `struct
// MDB_page` in mdb.c.

import Glibc

struct DataFile {
    /// The fields of a meta page that the checks need.
    struct Meta: Equatable {
        var pageSize: Int
        var mapSize: UInt64
        var freeRoot: UInt64
        var mainRoot: UInt64
        var lastPage: UInt64
        var transaction: UInt64
    }

    static let invalidPage = UInt64.max
    private static let headerSize = 16
    static let magic: UInt32 = 0xBEEF_C0DE
    private static let branch: UInt16 = 0x01, leaf: UInt16 = 0x02, overflow: UInt16 = 0x04, meta: UInt16 = 0x08

    let descriptor: Int32
    let path: String
    private var size: UInt64 = 0
    /// The number of times that a check is repeated because another process has committed.
    private static let attempts = 100

    private init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Checks the file at a path; an empty file passes, since liblmdb initialises it.
    ///
    /// The file must not be open through liblmdb in this process: closing any descriptor of it
    /// would drop the process's locks (lmdb.h, "Caveats").
    static func check(path: String) throws(LMDBError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw LMDBError(code: errno, operation: "open", path: path) }
        defer { close(descriptor) }
        var file = DataFile(descriptor: descriptor, path: path)
        guard try file.measure() > 0 else { return }
        for attempt in 1...attempts {
            let meta = try file.newestMeta()
            // The size is read after the meta page: a file only grows, so it covers this snapshot.
            try file.measure()
            do throws(LMDBError) {
                return try file.check(meta)
            } catch {
                // A writer in another process reuses the pages of a snapshot that no reader has
                // registered.
                guard attempt < attempts, try file.newestMeta() != meta else { throw error }
            }
        }
    }

    /// Refuses a file that is not regular before it is opened.
    ///
    /// Opening a pipe waits for its other end, and opening a device can have any side effect.
    static func checkKind(path: String) throws(LMDBError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw LMDBError(code: errno, operation: "open", path: path) }
        guard (status.st_mode & S_IFMT) == S_IFREG else { throw LMDBError(.notAFile, operation: "open", path: path) }
    }

    @discardableResult
    private mutating func measure() throws(LMDBError) -> UInt64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw LMDBError(code: errno, operation: "open", path: path) }
        guard (status.st_mode & S_IFMT) == S_IFREG else { throw LMDBError(.notAFile, operation: "open", path: path) }
        size = UInt64(status.st_size)
        return size
    }

    private func newestMeta() throws(LMDBError) -> Meta {
        let first = try meta(at: 0), second = try meta(at: UInt64(first.pageSize))
        // liblmdb takes the page size from the newer one without comparing (mdb.c,
        // `mdb_env_read_header`).
        guard second.pageSize == first.pageSize else { throw LMDBError(.corrupted, operation: "open", path: path) }
        // mdb_env_pick_meta: the larger transaction id.
        return second.transaction > first.transaction ? second : first
    }

    private func meta(at offset: UInt64) throws(LMDBError) -> Meta {
        let page = try bytes(at: offset, count: 152)
        guard page.u16(10) & DataFile.meta != 0, page.u32(16) == DataFile.magic, page.u32(20) & 0xFFFF == 1 else {
            throw LMDBError(.notAnEnvironment, operation: "open", path: path)
        }
        let pageSize = Int(page.u32(40))
        guard pageSize >= 512, pageSize <= 65536, pageSize & (pageSize - 1) == 0 else {
            throw LMDBError(.corrupted, operation: "open", path: path)
        }
        return Meta(
            pageSize: pageSize, mapSize: page.u64(32), freeRoot: page.u64(80), mainRoot: page.u64(128),
            lastPage: page.u64(136), transaction: page.u64(144))
    }

    /// Checks that the roots are tree pages and that every page beyond the end of the file is free.
    ///
    /// A healthy file may be shorter than its last page number: a page can be freed before it is
    /// written.
    private func check(_ meta: Meta) throws(LMDBError) {
        let pages = size / UInt64(meta.pageSize)
        for root in [meta.freeRoot, meta.mainRoot] where root != DataFile.invalidPage {
            guard root >= 2, root <= meta.lastPage else { throw LMDBError(.corrupted, operation: "open", path: path) }
            let flags = try page(root, meta).u16(10)
            guard flags & (DataFile.branch | DataFile.leaf) != 0 else {
                throw LMDBError(.corrupted, operation: "open", path: path)
            }
        }
        guard meta.lastPage >= pages else { return }
        var free: Set<UInt64> = []
        try visitFreePages(meta) { if $0 >= pages && $0 <= meta.lastPage { free.insert($0) } }
        guard UInt64(free.count) == meta.lastPage - pages + 1 else {
            throw LMDBError(.truncated, operation: "open", path: path)
        }
    }

    /// Visits the page numbers of the free list.
    ///
    /// The list is a tree: transaction id → page numbers (a count, then that many numbers).
    private func visitFreePages(_ meta: Meta, _ visit: (UInt64) -> Void) throws(LMDBError) {
        guard meta.freeRoot != DataFile.invalidPage else { return }
        var pending = [meta.freeRoot], seen = Set<UInt64>()
        while let number = pending.popLast() {
            guard seen.insert(number).inserted else { throw LMDBError(.corrupted, operation: "open", path: path) }
            let page = try page(number, meta)
            let flags = page.u16(10), lower = Int(page.u16(12))
            guard lower >= DataFile.headerSize, lower <= meta.pageSize else {
                throw LMDBError(.corrupted, operation: "open", path: path)
            }
            for index in 0..<(lower - DataFile.headerSize) / 2 {
                let node = Int(page.u16(DataFile.headerSize + 2 * index))
                guard node + 8 <= meta.pageSize else { throw LMDBError(.corrupted, operation: "open", path: path) }
                let low = UInt64(page.u16(node)), high = UInt64(page.u16(node + 2)),
                    nodeFlags = UInt64(page.u16(node + 4))
                if flags & DataFile.branch != 0 {
                    pending.append(low | high << 16 | nodeFlags << 32)
                    continue
                }
                let dataSize = Int(low | high << 16), data = node + 8 + Int(page.u16(node + 6))
                let list: [UInt8]
                if nodeFlags & 1 != 0 {  // F_BIGDATA: the data is stored in overflow pages
                    guard data + 8 <= meta.pageSize else { throw LMDBError(.corrupted, operation: "open", path: path) }
                    let start = page.u64(data)
                    guard start < size / UInt64(meta.pageSize), UInt64(dataSize) <= size else {
                        throw LMDBError(.truncated, operation: "open", path: path)
                    }
                    list = try bytes(at: start * UInt64(meta.pageSize) + UInt64(DataFile.headerSize), count: dataSize)
                } else {
                    guard data + dataSize <= meta.pageSize else {
                        throw LMDBError(.corrupted, operation: "open", path: path)
                    }
                    list = Array(page[data..<data + dataSize])
                }
                guard list.count >= 8, list.u64(0) <= UInt64(list.count / 8 - 1) else {
                    throw LMDBError(.corrupted, operation: "open", path: path)
                }
                for entry in 0..<Int(list.u64(0)) { visit(list.u64(8 + 8 * entry)) }
            }
        }
    }

    private func page(_ number: UInt64, _ meta: Meta) throws(LMDBError) -> [UInt8] {
        guard number < size / UInt64(meta.pageSize) else { throw LMDBError(.truncated, operation: "open", path: path) }
        return try bytes(at: number * UInt64(meta.pageSize), count: meta.pageSize)
    }

    private func bytes(at offset: UInt64, count: Int) throws(LMDBError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let n = buffer.withUnsafeMutableBytes { buffer in
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
                return pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            }
            if n < 0 && errno == EINTR { continue }
            guard n >= 0 else { throw LMDBError(code: errno, operation: "open", path: path) }
            guard n > 0 else {
                throw LMDBError(offset == 0 ? .notAnEnvironment : .truncated, operation: "open", path: path)
            }
            done += n
        }
        return buffer
    }
}

/// Integers of the file, which is little-endian on every machine that Tarn supports.
extension [UInt8] {
    func u16(_ offset: Int) -> UInt16 { UInt16(self[offset]) | UInt16(self[offset + 1]) << 8 }
    func u32(_ offset: Int) -> UInt32 { UInt32(u16(offset)) | UInt32(u16(offset + 2)) << 16 }
    func u64(_ offset: Int) -> UInt64 { UInt64(u32(offset)) | UInt64(u32(offset + 4)) << 32 }
}

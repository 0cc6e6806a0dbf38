// The checks of a data file that precede its mapping, read with `pread`.
//
// liblmdb trusts the file: a truncated one opens without complaint, and the first access to a
// missing page kills the process with SIGBUS. Therefore the meta pages, the roots and the size are
// checked first.

import Glibc
import LMDBPages

struct DataFile {
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

    /// Refuses a file with several names before it is written to.
    ///
    /// The lock files belong to the directory: processes that open the file in two directories do
    /// not share the writers' mutex, and overwrite each other's pages.
    static func checkNames(path: String) throws(LMDBError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw LMDBError(code: errno, operation: "open", path: path) }
        guard (status.st_mode & S_IFMT) != S_IFLNK, status.st_nlink <= 1 else {
            throw LMDBError(.severalNames, operation: "open", path: path)
        }
    }

    @discardableResult
    private mutating func measure() throws(LMDBError) -> UInt64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw LMDBError(code: errno, operation: "open", path: path) }
        guard (status.st_mode & S_IFMT) == S_IFREG else { throw LMDBError(.notAFile, operation: "open", path: path) }
        size = UInt64(status.st_size)
        return size
    }

    private func newestMeta() throws(LMDBError) -> MetaPage {
        let first = try meta(0, at: 0), second = try meta(1, at: UInt64(first.pageSize))
        // liblmdb takes the page size from the newer one without comparing (mdb.c,
        // `mdb_env_read_header`).
        guard second.pageSize == first.pageSize else { throw damaged }
        // mdb_env_pick_meta: the larger transaction id.
        return second.transaction > first.transaction ? second : first
    }

    private func meta(_ number: Int, at offset: UInt64) throws(LMDBError) -> MetaPage {
        let page = try bytes(at: offset, count: MetaPage.size).withUnsafeBytes { MetaPage($0, number: number) }
        if let page, page.fault == nil { return page }
        if case .pageSize = page?.fault { throw damaged }
        throw LMDBError(.notAnEnvironment, operation: "open", path: path)
    }

    private var damaged: LMDBError { LMDBError(.corrupted, operation: "open", path: path) }

    /// Checks that the free list has its options, that the roots are tree pages, and that every
    /// page beyond the end of the file is free.
    ///
    /// A healthy file may be shorter than its last page number: a page can be freed before it is
    /// written.
    private func check(_ meta: MetaPage) throws(LMDBError) {
        guard meta.hasSoundFreeList else { throw damaged }
        let pages = size / UInt64(meta.pageSize)
        for root in [meta.freeList.root, meta.main.root].compactMap(\.self) {
            guard root >= PageLayout.metaPages, root <= meta.lastPage else { throw damaged }
            let isOfTree = try withPage(root, meta) { page in
                page.flags & (PageLayout.branch | PageLayout.leaf) != 0
            }
            guard isOfTree else { throw damaged }
        }
        guard meta.lastPage >= pages else { return }
        var free: Set<UInt64> = []
        try visitFreePages(meta) { if $0 >= pages && $0 <= meta.lastPage { free.insert($0) } }
        guard UInt64(free.count) == meta.lastPage - pages + 1 else {
            throw LMDBError(.truncated, operation: "open", path: path)
        }
    }

    /// Visits the page numbers of the free list.
    private func visitFreePages(_ meta: MetaPage, _ visit: (UInt64) -> Void) throws(LMDBError) {
        guard let root = meta.freeList.root else { return }
        var pending = [root], seen = Set<UInt64>()
        while let number = pending.popLast() {
            guard seen.insert(number).inserted else { throw damaged }
            try withPage(number, meta) { page throws(LMDBError) in
                guard page.lower >= PageLayout.headerSize, page.lower <= page.size else { throw damaged }
                for index in 0..<page.count {
                    if page.flags & PageLayout.branch != 0 {
                        guard let child = page.child(index) else { throw damaged }
                        pending.append(child)
                    } else {
                        guard let node = page.leafNode(index) else { throw damaged }
                        try visitFreePages(of: node, meta, visit)
                    }
                }
            }
        }
    }

    private func visitFreePages(
        of node: LeafNode, _ meta: MetaPage, _ visit: (UInt64) -> Void
    ) throws(LMDBError) {
        func visitAll(_ value: UnsafeRawBufferPointer) throws(LMDBError) {
            guard let pages = FreePages(value) else { throw damaged }
            for index in 0..<pages.count { visit(pages[index]) }
        }
        guard let first = node.overflowPage else { return try visitAll(node.stored) }
        guard first < size / UInt64(meta.pageSize), UInt64(node.valueSize) <= size else {
            throw LMDBError(.truncated, operation: "open", path: path)
        }
        let offset = first * UInt64(meta.pageSize) + UInt64(PageLayout.headerSize)
        let value = try bytes(at: offset, count: node.valueSize)
        try value.span.bytes.withUnsafeBytes(visitAll)
    }

    private func withPage<Result>(
        _ number: UInt64, _ meta: MetaPage, _ body: (PageView) throws(LMDBError) -> Result
    ) throws(LMDBError) -> Result {
        let bytes = try page(number, meta)
        return try bytes.span.bytes.withUnsafeBytes { bytes throws(LMDBError) in
            guard let page = PageView(bytes) else { throw damaged }
            return try body(page)
        }
    }

    private func page(_ number: UInt64, _ meta: MetaPage) throws(LMDBError) -> [UInt8] {
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

// The bytes of a data file, read with `pread`: in a damaged file, even one that is truncated
// meanwhile, a page is either read or missing. A map would end the process (SIGBUS), and liblmdb
// trusts the content.

import Glibc
import LMDB
import TarnStore

/// An LMDB data file of unknown health. For one thread at a time.
final class PageFile {
    let path: String
    let descriptor: Int32
    private let isOwned: Bool
    /// The size of a page in bytes, once the meta pages have declared it.
    var pageSize = 4096 {
        didSet { cache.removeAll() }
    }
    /// The cache of recently read pages: every lookup reads the same branches.
    private var cache: [UInt64: PageBytes] = [:]
    private static let cachedPages = 4096
    /// The number of pages that were read from the file.
    private(set) var readCount = 0
    /// Whether the question is to end; its answer is then thrown away.
    var isCancelled: (@Sendable () -> Bool)?

    /// A closure that is called with every 256th page that is read.
    var onRead: (() -> Void)?

    /// Opens a data file through a descriptor of its own.
    ///
    /// - Parameter path: The path of a directory with a `data.mdb`, or of the file.
    /// - Throws: `.noSuchStore`, `.notAStore` for a path that is not a file, `.store(.lmdb)` with
    ///   `.permission` or another error of the system.
    init(opening path: String) throws(StoreOpenError) {
        var status = stat(), file = path
        guard stat(path, &status) == 0 else { throw PageFile.failure(path, errno) }
        if status.st_mode & S_IFMT == S_IFDIR {
            file = path + "/data.mdb"
            guard stat(file, &status) == 0 else { throw PageFile.failure(path, errno) }
        }
        // Opening a pipe would wait for a writer.
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAStore(path: file, detail: "it is no file") }
        descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        self.path = file
        isOwned = true
        guard descriptor >= 0 else { throw PageFile.failure(path, errno) }
    }

    /// Reads through a descriptor that the caller owns and keeps open.
    init(borrowing descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
        isOwned = false
    }

    deinit {
        if isOwned, descriptor >= 0 { close(descriptor) }
    }

    /// Whether a path leads to a file, not to a directory.
    static func isFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    private static func failure(_ path: String, _ code: Int32) -> StoreOpenError {
        code == ENOENT || code == ENOTDIR
            ? .noSuchStore(path: path) : .store(.lmdb(LMDBError(code: code, operation: "open", path: path)))
    }

    /// The current size of the file, in bytes.
    var byteCount: UInt64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? UInt64(max(0, status.st_size)) : 0
    }

    /// The current number of whole pages of the file.
    var pageCount: UInt64 { byteCount / UInt64(pageSize) }

    /// The ranges of pages, from the third on, that have data; pages in holes contain only zeros.
    var pagesWithData: [Range<UInt64>] {
        // A separate file description, since seeking moves the position from which liblmdb writes.
        let own = open("/proc/self/fd/\(descriptor)", O_RDONLY | O_CLOEXEC)
        defer { if own >= 0 { close(own) } }
        let size = byteCount, page = UInt64(pageSize)
        guard own >= 0 else { return pageCount > 2 ? [2..<pageCount] : [] }
        var ranges: [Range<UInt64>] = [], offset = 2 * page
        while let data = FileCalls.data(of: own, from: offset, size: size) {
            let first = max(data.lowerBound / page, ranges.last?.upperBound ?? 2),
                end = min((data.upperBound + page - 1) / page, pageCount)
            if first < end { ranges.append(first..<end) }
            guard data.upperBound > offset else { break }
            offset = data.upperBound
        }
        return ranges
    }

    /// Returns a page of the file; nil if it is behind the end of the file or unreadable.
    func page(_ number: UInt64) -> PageBytes? {
        if let page = cache[number] { return page }
        let (offset, isTooFar) = number.multipliedReportingOverflow(by: UInt64(pageSize))
        guard !isTooFar, let bytes = bytes(at: offset, count: pageSize) else { return nil }
        countRead()
        guard let page = PageBytes(bytes) else { return nil }
        if cache.count >= PageFile.cachedPages { cache.removeAll(keepingCapacity: true) }
        cache[number] = page
        return page
    }

    /// Counts a page that was read: here, or by another thread for a question of this file.
    func countRead() {
        readCount += 1
        if readCount % 256 == 0 { onRead?() }
    }

    /// Reads bytes of the file into a buffer.
    ///
    /// - Returns: The number of bytes up to the end of the file, or to an unreadable one.
    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var done = 0
        while done < buffer.count, offset <= UInt64(Int64.max) - UInt64(done) {
            let read = pread(
                descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset) + off_t(done))
            if read < 0 && errno == EINTR { continue }
            guard read > 0 else { break }
            done += read
        }
        return done
    }

    /// Returns bytes of the file; nil if they are behind its end or unreadable.
    func bytes(at offset: UInt64, count: Int) -> [UInt8]? {
        let (end, isTooFar) = offset.addingReportingOverflow(UInt64(count))
        // Checked before the allocation: the count in a damaged page may be any number.
        guard !isTooFar, end <= UInt64(Int64.max), count == pageSize || end <= byteCount else { return nil }
        var isWhole = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            let done = read(at: offset, into: UnsafeMutableRawBufferPointer(buffer))
            isWhole = done == count
            initialized = done
        }
        return isWhole ? bytes : nil
    }
}

// What a transaction needs for compressed rows: zstd's working memory, and the memory that decompressed bodies live in.

import CZstd

/// For one transaction at a time. Expensive to make, so it is kept between transactions.
package final class RowContext {
    private let reading: OpaquePointer
    private let writing: OpaquePointer
    /// Bodies in the order in which they were lent; those from `live` on are free. Each stays where it is as long as the context does.
    private var bodies: [UnsafeMutablePointer<LentBody>] = []
    private var live = 0
    /// The long values of a divided body, on their way into or out of a frame.
    private var room = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
    private(set) var longValues = Bytes(start: nil, count: 0)
    private static let keptBuffers = 64
    private static let keptBufferSize = 1 << 20

    init?() {
        guard let reading = ZSTD_createDCtx() else { return nil }
        guard let writing = ZSTD_createCCtx() else {
            ZSTD_freeDCtx(reading)
            return nil
        }
        self.reading = reading
        self.writing = writing
        // The row's header names the dictionary and holds the checksum.
        ZSTD_CCtx_setParameter(writing, ZSTD_c_dictIDFlag, 0)
        ZSTD_CCtx_setParameter(writing, ZSTD_c_checksumFlag, 0)
        ZSTD_CCtx_setParameter(writing, ZSTD_c_contentSizeFlag, 1)
    }

    deinit {
        ZSTD_freeDCtx(reading)
        ZSTD_freeCCtx(writing)
        for body in bodies { RowContext.free(body) }
        room.deallocate()
    }

    private static func free(_ body: UnsafeMutablePointer<LentBody>) {
        body.pointee.memory.deallocate()
        body.deallocate()
    }

    /// The state to which `release` returns: bodies that are decompressed after it are given up then.
    var mark: Int { live }

    func release(to mark: Int) { live = mark }

    /// Gives up everything, and memory that a few large rows have needed.
    func reset() {
        live = 0
        while let last = bodies.last, bodies.count > RowContext.keptBuffers || last.pointee.memory.count > RowContext.keptBufferSize {
            RowContext.free(last)
            bodies.removeLast()
        }
        if room.count > RowContext.keptBufferSize { makeRoom(4096) }
    }

    /// Lends a body as it is stored. It is decompressed when its bytes are asked for.
    func lend(_ stored: Bytes, isWide: Bool, isDivided: Bool, _ dictionary: RowDictionary) -> UnsafeMutablePointer<LentBody> {
        if live == bodies.count {
            let body = UnsafeMutablePointer<LentBody>.allocate(capacity: 1)
            body.initialize(to: LentBody(Unmanaged.passUnretained(self), Unmanaged.passUnretained(dictionary)))
            bodies.append(body)
        }
        let body = bodies[live]
        live += 1
        body.pointee.stored = stored
        body.pointee.isWide = isWide
        body.pointee.isDivided = isDivided
        body.pointee.dictionary = Unmanaged.passUnretained(dictionary)
        body.pointee.state = .compressed
        return body
    }

    /// The same of a row that is known to be compressed.
    func lend(row: Bytes, _ dictionary: RowDictionary) -> UnsafeMutablePointer<LentBody> {
        lend(
            row.slice(RowFormat.headerSize..<row.count), isWide: row[1] & RowFormat.wide != 0,
            isDivided: row[2] == RowFormat.zstdLongValues, dictionary)
    }

    /// Decompresses a frame. False if it is damaged.
    func decompress(_ frame: Bytes, into room: UnsafeMutableRawBufferPointer, _ size: Int, _ dictionary: RowDictionary) -> Bool {
        let written = ZSTD_decompress_usingDDict(
            reading, room.baseAddress, size, frame.baseAddress, frame.count, dictionary.forReading)
        return written == size
    }

    /// Decompresses the frame of long values, which are then in `longValues`. False if it is damaged, or of another size.
    func decompressLongValues(_ frame: Bytes, of size: Int, _ dictionary: RowDictionary) -> Bool {
        guard RowContext.contentSize(frame) == size else { return false }
        withLongValues(of: size) { _ in }
        return decompress(frame, into: room, size, dictionary)
    }

    /// Room for long values, which are in `longValues` until others are.
    func withLongValues(of size: Int, _ body: (UnsafeMutableRawBufferPointer) -> Void) {
        if room.count < size { makeRoom(size) }
        longValues = Bytes(start: room.baseAddress, count: size)
        body(UnsafeMutableRawBufferPointer(rebasing: room[..<size]))
    }

    private func makeRoom(_ size: Int) {
        room.deallocate()
        room = .allocate(byteCount: size, alignment: 16)
        longValues = Bytes(start: nil, count: 0)
    }

    /// Nil if it is not known, or no body is that long.
    static func contentSize(_ frame: Bytes) -> Int? {
        let size = ZSTD_getFrameContentSize(frame.baseAddress, frame.count)
        return size > 0 && size <= UInt64(RowCompression.largestBody) ? Int(size) : nil
    }

    /// Appends the compressed body. False, and nothing is appended, if it is not shorter by at least an eighth.
    func compress(_ body: Bytes, _ dictionary: RowDictionary, into writer: inout ByteWriter) -> Bool {
        guard ZSTD_isError(ZSTD_CCtx_refCDict(writing, dictionary.forWriting)) == 0 else { return false }
        let start = writer.count
        let room = writer.appendUninitialized(ZSTD_compressBound(body.count))
        let size = ZSTD_compress2(writing, room.baseAddress, room.count, body.baseAddress, body.count)
        guard ZSTD_isError(size) == 0, size <= body.count - body.count / 8 else {
            writer.truncate(to: start)
            return false
        }
        writer.truncate(to: start + size)
        return true
    }
}

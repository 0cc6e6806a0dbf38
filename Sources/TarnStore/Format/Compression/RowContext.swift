// The memory of a transaction for compressed rows: zstd's working memory and decompressed bodies.

import CZstd

/// zstd's working memory and the buffers of decompressed bodies, for one transaction at a time.
/// It is expensive to create, so a pool keeps it between transactions.
package final class RowContext {
    private let reading: OpaquePointer
    private let writing: OpaquePointer
    /// Bodies in the order in which they were borrowed. Those from `live` on are free.
    /// The address of a body is stable as long as the context exists.
    private var bodies: [UnsafeMutablePointer<DecompressedBody>] = []
    private var live = 0
    /// The buffer of `longValues`: input or output of a frame of a divided body.
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
        // The row's header stores the dictionary id and the checksum.
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

    private static func free(_ body: UnsafeMutablePointer<DecompressedBody>) {
        body.pointee.memory.deallocate()
        body.deallocate()
    }

    /// The state to restore with `release`, which frees the bodies borrowed after this point.
    var mark: Int { live }

    func release(to mark: Int) { live = mark }

    /// Frees all bodies, and the large buffers that a few large rows needed.
    func reset() {
        live = 0
        if let last = bodies.last, isTooLarge(last, of: bodies.count) { freeBodies() }
        if room.count > RowContext.keptBufferSize { makeRoom(4096) }
    }

    private func isTooLarge(_ body: UnsafeMutablePointer<DecompressedBody>, of count: Int) -> Bool {
        count > RowContext.keptBuffers || body.pointee.memory.count > RowContext.keptBufferSize
    }

    private func freeBodies() {
        var all = bodies
        bodies = []
        while let last = all.last, isTooLarge(last, of: all.count) {
            RowContext.free(last)
            all.removeLast()
        }
        bodies = all
    }

    /// Borrows a body in its stored form. It is decompressed on the first access to its bytes.
    ///
    /// - Parameters:
    ///   - form: The compression form in the row's header.
    ///   - dictionary: The store's, which outlives the body.
    func lend(
        _ stored: Bytes, form: UInt8, isWide: Bool, _ dictionary: Unmanaged<RowDictionary>
    ) -> UnsafeMutablePointer<DecompressedBody> {
        if live == bodies.count { addBody(dictionary) }
        let body = bodies[live]
        live += 1
        body.pointee.stored = stored
        body.pointee.isWide = isWide
        body.pointee.form = form
        body.pointee.dictionary = dictionary
        body.pointee.state = .compressed
        return body
    }

    @inline(never)
    private func addBody(_ dictionary: Unmanaged<RowDictionary>) {
        let body = UnsafeMutablePointer<DecompressedBody>.allocate(capacity: 1)
        body.initialize(to: DecompressedBody(Unmanaged.passUnretained(self), dictionary))
        // Changed outside of the property: an access that lasts makes each access to it checked.
        var all = bodies
        bodies = []
        all.append(body)
        bodies = all
    }

    /// Borrows the body of a row that is known to be compressed.
    func lend(row: Bytes, _ dictionary: Unmanaged<RowDictionary>) -> UnsafeMutablePointer<DecompressedBody> {
        lend(
            row.slice(RowFormat.headerSize..<row.count), form: row[2], isWide: row[1] & RowFormat.wide != 0,
            dictionary)
    }

    /// Decompresses a frame. Returns false if it is damaged.
    func decompress(_ frame: Bytes, into room: UnsafeMutableRawBufferPointer, _ size: Int, _ dictionary: RowDictionary)
        -> Bool
    {
        let written = ZSTD_decompress_usingDDict(
            reading, room.baseAddress, size, frame.baseAddress, frame.count, dictionary.forReading)
        return written == size
    }

    /// Decompresses a frame of long values into `longValues`.
    /// Returns false if the frame is damaged or declares another size.
    func decompressLongValues(_ frame: Bytes, of size: Int, _ dictionary: RowDictionary) -> Bool {
        guard RowContext.contentSize(frame) == size else { return false }
        withLongValues(of: size) { _ in }
        return decompress(frame, into: room, size, dictionary)
    }

    /// Provides room for long values. `longValues` contains them until the next call.
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

    /// Returns the size that a frame declares. Nil if it declares none, or more than any body has.
    static func contentSize(_ frame: Bytes) -> Int? {
        let size = ZSTD_getFrameContentSize(frame.baseAddress, frame.count)
        return size > 0 && size <= UInt64(RowCompression.largestBody) ? Int(size) : nil
    }

    /// Appends the compressed body if that saves at least an eighth.
    /// Otherwise returns false and appends nothing.
    func compress(
        _ body: Bytes, _ dictionary: RowDictionary, _ effort: RowDictionary.Effort = .quick,
        into writer: inout ByteWriter
    ) -> Bool {
        let digested = effort == .thorough ? dictionary.forRewriting ?? dictionary.forWriting : dictionary.forWriting
        guard ZSTD_isError(ZSTD_CCtx_refCDict(writing, digested)) == 0 else { return false }
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

// What a transaction needs for compressed rows: zstd's working memory, and the memory that decompressed bodies live in.

import CZstd

/// For one transaction at a time. Expensive to make, so it is kept between transactions.
package final class RowContext {
    private let reading: OpaquePointer
    private let writing: OpaquePointer
    /// Buffers in the order in which they were handed out; those from `live` on are free.
    private var buffers: [UnsafeMutableRawBufferPointer] = []
    private var live = 0
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
        for buffer in buffers { buffer.deallocate() }
    }

    /// The state to which `release` returns: bodies that are decompressed after it are given up then.
    var mark: Int { live }

    func release(to mark: Int) { live = mark }

    /// Gives up everything, and memory that a few large rows have needed.
    func reset() {
        live = 0
        while let last = buffers.last, buffers.count > RowContext.keptBuffers || last.count > RowContext.keptBufferSize {
            last.deallocate()
            buffers.removeLast()
        }
    }

    /// Decompresses a body. Nil if the frame is damaged.
    func decompress(_ frame: Bytes, _ dictionary: RowDictionary) -> Bytes? {
        let size = ZSTD_getFrameContentSize(frame.baseAddress, frame.count)
        guard size > 0, size <= UInt64(RowCompression.largestBody) else { return nil }
        let room = buffer(Int(size))
        let written = ZSTD_decompress_usingDDict(
            reading, room.baseAddress, Int(size), frame.baseAddress, frame.count, dictionary.forReading)
        guard written == Int(size) else { return nil }
        live += 1
        return Bytes(start: room.baseAddress, count: Int(size))
    }

    private func buffer(_ size: Int) -> UnsafeMutableRawBufferPointer {
        if live == buffers.count {
            buffers.append(.allocate(byteCount: max(size, 4096), alignment: 16))
        } else if buffers[live].count < size {
            buffers[live].deallocate()
            buffers[live] = .allocate(byteCount: max(size, 4096), alignment: 16)
        }
        return buffers[live]
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

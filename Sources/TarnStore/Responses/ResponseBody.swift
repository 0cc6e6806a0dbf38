// The table of bodies: the bytes of responses, in chunks that fill whole pages of the store.

internal import LMDB

package enum ResponseBody {
    /// The number of body bytes in a chunk.
    ///
    /// It is sixteen pages, less the header that LMDB puts before a value outside of a leaf (mdb.c:
    /// PAGEHDRSZ), less the checksum.
    package static func chunkSize(format: Int) -> Int {
        16 * 4096 - 16 - (format >= ChecksummedTable.firstFormat ? ValueChecksum.size : 0)
    }

    /// The largest size of a body in bytes: the keys of chunks have no more numbers.
    static let longest = Int(UInt32.max) * chunkSize(format: Store.format)

    /// Calls the closure with the key of a chunk.
    package static func withKey<Result>(_ id: UInt64, _ chunk: Int, _ body: (Bytes) -> Result) -> Result {
        var key = ByteWriter()
        ResponseBody.key(id, chunk, into: &key)
        return body(key.bytes)
    }

    static func key(_ id: UInt64, _ chunk: Int, into writer: inout ByteWriter) {
        writer.removeAll()
        writer.appendBigEndian(id)
        writer.appendBigEndian(UInt32(chunk))
    }

    /// Stores a body in chunks.
    ///
    /// - Parameter first: the number of the chunk that the bytes begin with.
    static func put(
        _ body: [UInt8], of id: UInt64, from first: Int = 0, _ table: ChecksummedTable, format: Int,
        _ raw: RawTransaction
    ) throws {
        var key = ByteWriter()
        let size = chunkSize(format: format)
        try body.withUnsafeBytes { body in
            for (chunk, start) in stride(from: 0, to: body.count, by: size).enumerated() {
                ResponseBody.key(id, first + chunk, into: &key)
                try raw.willAdd()
                try raw.put(table, key.bytes, body.slice(start..<min(start + size, body.count)))
            }
        }
    }
}

// The table of bodies: a response's bytes, in chunks that fill whole pages of the store.

internal import LMDB

package enum ResponseBody {
    /// Sixteen pages less the header that LMDB puts before a value that is not in a leaf (mdb.c: PAGEHDRSZ).
    package static let chunkSize = 16 * 4096 - 16

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
}

extension StoreAccess {
    /// Bytes of a kept body; nil if they are not all there.
    package func body(of id: UInt64, _ range: Range<Int>) throws -> [UInt8]? {
        guard let table = state.bodies else { return nil }
        var key = ByteWriter(), bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        var position = range.lowerBound
        while position < range.upperBound {
            let chunk = position / ResponseBody.chunkSize, start = chunk * ResponseBody.chunkSize
            ResponseBody.key(id, chunk, into: &key)
            guard let value = try raw.get(table, key.bytes), value.count > position - start else { return nil }
            let end = min(range.upperBound - start, value.count)
            bytes.append(contentsOf: value[(position - start)..<end])
            position = start + end
        }
        return bytes
    }

    /// Whether all of the body is there that an entry announces.
    func hasBody(of id: UInt64, _ entry: ResponseEntry) throws -> Bool {
        guard let size = entry.caching?.bodySize else { return true }
        return try body(of: id, 0..<size) != nil
    }

    func removeBody(of id: UInt64, size: Int) throws {
        guard let table = state.bodies else { return }
        var key = ByteWriter()
        for chunk in 0..<(size + ResponseBody.chunkSize - 1) / ResponseBody.chunkSize {
            ResponseBody.key(id, chunk, into: &key)
            _ = try raw.delete(table, key.bytes)
        }
    }

    func putBody(_ bytes: [UInt8], of id: UInt64) throws {
        guard let table = state.bodies else { throw StoreError.damagedCatalog(path: "", detail: "the table bodies is missing") }
        var key = ByteWriter()
        try bytes.withUnsafeBytes { bytes in
            for (chunk, start) in stride(from: 0, to: bytes.count, by: ResponseBody.chunkSize).enumerated() {
                ResponseBody.key(id, chunk, into: &key)
                try raw.willAdd()
                try raw.put(table, key.bytes, bytes.slice(start..<min(start + ResponseBody.chunkSize, bytes.count)))
            }
        }
    }
}

extension StoreWriter {
    /// Keeps a response with its body, which the entry must announce.
    ///
    /// - Precondition: `entry.caching?.bodySize` is the number of bytes.
    package mutating func putResponse(_ entry: ResponseEntry, body: [UInt8]) throws {
        precondition(entry.caching?.bodySize == body.count, "an entry says how large its body is")
        let id = try access.put(entry, sequence: sequence)
        try access.putBody(body, of: id)
    }
}

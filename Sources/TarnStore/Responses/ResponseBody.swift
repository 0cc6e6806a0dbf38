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

extension StoreAccess {
    /// Bytes of a stored body; nil if some of them are missing or damaged.
    package func body(of id: UInt64, _ range: Range<Int>) throws -> [UInt8]? {
        guard let table = state.bodies else { return nil }
        let size = ResponseBody.chunkSize(format: state.format)
        var key = ByteWriter(), bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        var position = range.lowerBound
        while position < range.upperBound {
            let chunk = position / size, start = chunk * size
            ResponseBody.key(id, chunk, into: &key)
            guard let value = try raw.get(table.table, key.bytes).flatMap({ table.content($0, key: key.bytes) }),
                value.count > position - start
            else { return nil }
            let end = min(range.upperBound - start, value.count)
            bytes.append(contentsOf: value[(position - start)..<end])
            position = start + end
        }
        return bytes
    }

    /// Whether the whole body is stored that an entry declares.
    func hasBody(of id: UInt64, _ entry: ResponseEntry) throws -> Bool {
        guard let size = entry.caching?.bodySize else { return true }
        return try body(of: id, 0..<size) != nil
    }

    func removeBody(of id: UInt64, size: Int) throws {
        guard let table = state.bodies else { return }
        var key = ByteWriter()
        let chunkSize = ResponseBody.chunkSize(format: state.format)
        for chunk in 0..<(size + chunkSize - 1) / chunkSize {
            ResponseBody.key(id, chunk, into: &key)
            _ = try raw.delete(table, key.bytes)
        }
    }

    func putBody(_ bytes: [UInt8], of id: UInt64) throws {
        guard let table = state.bodies else {
            throw StoreError.damagedCatalog(path: "", detail: "the table bodies is missing")
        }
        try ResponseBody.put(bytes, of: id, table, format: state.format, raw)
    }
}

extension StoreAccess {
    /// Appends bytes to a stored body. The last chunk is rewritten if it was not full.
    func appendBody(_ bytes: [UInt8], of id: UInt64, at position: Int) throws {
        guard let table = state.bodies else {
            throw StoreError.damagedCatalog(path: "", detail: "the table bodies is missing")
        }
        let size = ResponseBody.chunkSize(format: state.format), first = position / size
        guard let kept = try body(of: id, first * size..<position) else {
            throw StoreError.damagedEntry(table: TableName.bodies, key: String(id))
        }
        try ResponseBody.put(kept + bytes, of: id, from: first, table, format: state.format, raw)
    }
}

extension StoreWriter {
    /// Stores a response with its body, whose size the entry must declare.
    ///
    /// - Precondition: `entry.caching?.bodySize` is the number of bytes.
    package mutating func putResponse(_ entry: ResponseEntry, body: [UInt8]) throws {
        precondition(entry.caching?.bodySize == body.count, "the entry must declare the size of its body")
        let id = try access.put(entry, sequence: sequence)
        try access.putBody(body, of: id)
    }
}

// The bodies of responses, in chunks.

internal import LMDB

extension ResponseTable {
    /// Bytes of a stored body; nil if some of them are missing or damaged.
    package func body(of id: UInt64, _ range: Range<Int>) throws -> [UInt8]? {
        guard let table = state.bodies else { return nil }
        let size = ResponseBody.chunkSize(format: state.format)
        var key = ByteWriter(), bytes: [UInt8] = []
        // A damaged entry may declare any size.
        bytes.reserveCapacity(min(range.count, 16 << 20))
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

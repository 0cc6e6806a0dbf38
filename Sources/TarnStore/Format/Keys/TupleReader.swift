/// Decodes tuples. It never reads beyond the bytes, and returns nil for anything that is no tuple.
struct TupleReader {
    let bytes: Bytes
    private(set) var offset = 0

    init(_ bytes: Bytes) { self.bytes = bytes }

    var isAtEnd: Bool { offset >= bytes.count }

    /// Skips an element without decoding it. Returns false if it is malformed.
    mutating func skip() -> Bool {
        guard offset < bytes.count else { return false }
        switch bytes[offset] {
        case TupleCode.null, TupleCode.false, TupleCode.true: return advance(1)
        case TupleCode.bytes, TupleCode.string:
            guard let end = terminator() else { return false }
            offset = end + 1
            return true
        case 0x0C...0x1C: return advance(1 + abs(Int(bytes[offset]) - 0x14))
        case TupleCode.double: return advance(9)
        case TupleCode.uuid: return advance(17)
        case TupleCode.decimal:
            guard let length = TupleReader.decimalLength(bytes.slice(offset..<bytes.count)) else { return false }
            return advance(length)
        default: return false
        }
    }

    mutating func next() -> TupleElement? {
        guard offset < bytes.count else { return nil }
        let start = offset
        guard skip() else { return nil }
        let code = bytes[start], body = bytes.slice(start + 1..<offset)
        switch code {
        case TupleCode.null: return .null
        case TupleCode.false: return .bool(false)
        case TupleCode.true: return .bool(true)
        case TupleCode.bytes: return .bytes(unescaped(body))
        case TupleCode.string: return .string(String(decoding: unescaped(body), as: UTF8.self))
        case TupleCode.uuid: return .uuid(Array(body))
        case TupleCode.decimal: return TupleReader.decimal(bytes.slice(start..<offset)).map(TupleElement.decimal)
        case TupleCode.double:
            let sortable = body.loadBigEndian(0, UInt64.self)
            return .double(Double(bitPattern: sortable >> 63 == 1 ? sortable ^ 0x8000_0000_0000_0000 : ~sortable))
        default:
            let negative = code < TupleCode.zero
            let magnitude = body.reduce(UInt64(0)) { $0 << 8 | UInt64(negative ? ~$1 : $1) }
            if !negative { return magnitude > UInt64(Int64.max) ? .uint(magnitude) : .int(Int64(magnitude)) }
            guard magnitude <= UInt64(Int64.max) + 1 else { return nil }
            return .int(Int64(truncatingIfNeeded: ~magnitude &+ 1))
        }
    }

    private mutating func advance(_ count: Int) -> Bool {
        guard offset + count <= bytes.count else { return false }
        offset += count
        return true
    }

    /// Returns the index of the 00 that terminates the string or bytes element at `offset`.
    private func terminator() -> Int? {
        var i = offset + 1
        while i < bytes.count {
            if bytes[i] == 0 {
                guard i + 1 < bytes.count, bytes[i + 1] == 0xFF else { return i }
                i += 1
            }
            i += 1
        }
        return nil
    }

    private func unescaped(_ body: Bytes) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(body.count)
        var i = 0
        while i < body.count - 1 {  // the last byte is the terminator
            result.append(body[i])
            i += body[i] == 0 ? 2 : 1
        }
        return result
    }
}

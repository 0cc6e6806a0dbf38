// Order-preserving encoding of values: the byte order of encodings is the order of the values, and the encoding of a tuple
// is the concatenation of its elements', so that a prefix of values is a prefix of bytes.
//
// This is the FoundationDB tuple layer's published encoding (its `design/tuple.md`), for the elements that occur here:
// null 00, bytes 01, UTF-8 string 02, integers 0C–1C, double 21, false 26, true 27, UUID 30; and a decimal of our own under 40,
// the first of the codes that the layer leaves to its users.


package enum TupleCode {
    package static let null: UInt8 = 0x00
    package static let bytes: UInt8 = 0x01
    package static let string: UInt8 = 0x02
    package static let zero: UInt8 = 0x14
    package static let double: UInt8 = 0x21
    package static let `false`: UInt8 = 0x26
    package static let `true`: UInt8 = 0x27
    package static let uuid: UInt8 = 0x30
    package static let decimal: UInt8 = 0x40
}

extension ByteWriter {
    package mutating func appendTupleNull() { append(TupleCode.null) }

    package mutating func appendTuple(_ value: Bool) { append(value ? TupleCode.true : TupleCode.false) }

    /// The length stands in the type code, negatives are one's complement: shorter is closer to zero.
    package mutating func appendTuple(_ value: Int64) {
        appendTuple(magnitude: value.magnitude, negative: value < 0)
    }

    package mutating func appendTuple(_ value: UInt64) { appendTuple(magnitude: value, negative: false) }

    private mutating func appendTuple(magnitude: UInt64, negative: Bool) {
        let count = (64 - magnitude.leadingZeroBitCount + 7) / 8
        append(negative ? TupleCode.zero - UInt8(count) : TupleCode.zero + UInt8(count))
        var shift = count * 8
        while shift > 0 {
            shift -= 8
            let byte = UInt8(truncatingIfNeeded: magnitude >> UInt64(shift))
            append(negative ? ~byte : byte)
        }
    }

    /// −0 equals 0, and every NaN is the one that sorts last.
    package mutating func appendTuple(_ value: Double) {
        let bits = value.isNaN ? 0x7FF8_0000_0000_0000 : value == 0 ? 0 : value.bitPattern
        append(TupleCode.double)
        appendBigEndian(bits >> 63 == 1 ? ~bits : bits ^ 0x8000_0000_0000_0000)
    }

    package mutating func appendTuple(string: Bytes) { appendTerminated(string, code: TupleCode.string) }

    package mutating func appendTuple(bytes: Bytes) { appendTerminated(bytes, code: TupleCode.bytes) }

    package mutating func appendTuple(uuid: Bytes) {
        precondition(uuid.count == 16)
        append(TupleCode.uuid)
        append(uuid)
    }

    /// 00 inside becomes 00 FF, so that the terminating 00 is less than any byte that could follow.
    private mutating func appendTerminated(_ bytes: Bytes, code: UInt8) {
        reserve(bytes.count + 2)
        append(code)
        var rest = bytes
        while let zero = rest.firstIndex(of: 0) {
            append(rest.slice(0..<zero + 1))
            append(0xFF)
            rest = rest.slice(zero + 1..<rest.count)
        }
        append(rest)
        append(0)
    }
}

/// One decoded element of a tuple.
package enum TupleElement: Equatable {
    case null
    case bool(Bool)
    case int(Int64)
    /// An integer above `Int64.max`.
    case uint(UInt64)
    case double(Double)
    case string(String)
    case bytes([UInt8])
    case uuid([UInt8])
    case decimal(ExactDecimal)
}

/// Reads tuples. Total: anything that is no tuple ends in nil, never beyond the bytes.
package struct TupleReader {
    package let bytes: Bytes
    package private(set) var offset: Int

    package init(_ bytes: Bytes, offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
    }

    package var isAtEnd: Bool { offset >= bytes.count }

    /// Moves past one element without decoding it.
    package mutating func skip() -> Bool {
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

    package mutating func next() -> TupleElement? {
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
            let sortable = UInt64(bigEndian: body.loadUnaligned(as: UInt64.self))
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

    /// The index of the 00 that ends the string or bytes element at `offset`.
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

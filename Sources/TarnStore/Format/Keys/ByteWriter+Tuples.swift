// Order-preserving encoding of values: encodings sort as their values do. The encoding of a tuple
// is the concatenation of the encodings of its elements, so a prefix of values is a prefix of
// bytes.
//
// This is the published encoding of FoundationDB's tuple layer (`design/tuple.md`) for a subset:
// null 00, bytes 01, UTF-8 string 02, integers 0C–1C, double 21, false 26, true 27, UUID 30.
// Tarn adds a decimal under 40, the first code that the layer reserves for its users.

extension ByteWriter {
    mutating func appendTupleNull() { append(TupleCode.null) }

    mutating func appendTuple(_ value: Bool) { append(value ? TupleCode.true : TupleCode.false) }

    /// The type code contains the length, and negatives are stored as one's complement.
    /// A shorter encoding is therefore closer to zero.
    package mutating func appendTuple(_ value: Int64) {
        appendTuple(magnitude: value.magnitude, negative: value < 0)
    }

    mutating func appendTuple(_ value: UInt64) { appendTuple(magnitude: value, negative: false) }

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

    /// −0 is encoded as 0, and every NaN as the one that sorts last.
    mutating func appendTuple(_ value: Double) {
        let bits = value.isNaN ? 0x7FF8_0000_0000_0000 : value == 0 ? 0 : value.bitPattern
        append(TupleCode.double)
        appendBigEndian(bits >> 63 == 1 ? ~bits : bits ^ 0x8000_0000_0000_0000)
    }

    package mutating func appendTuple(string: Bytes) { appendTerminated(string, code: TupleCode.string) }

    mutating func appendTuple(bytes: Bytes) { appendTerminated(bytes, code: TupleCode.bytes) }

    package mutating func appendTuple(uuid: Bytes) {
        precondition(uuid.count == 16)
        append(TupleCode.uuid)
        append(uuid)
    }

    /// An inner 00 is escaped as 00 FF, so that the terminating 00 is less than any following byte.
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

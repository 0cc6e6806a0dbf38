// Comparison of encoded values in the order of indexes, in place, without copies.

internal import Glibc

extension EncodedValue {
    /// Compares the value with an operand: below 0 for less, 0 for equal, above 0 for greater.
    ///
    /// The result is nil if the value's type has no place in this order.
    ///
    /// Text without regard to case has to be folded before the call.
    @inline(__always)
    func order(to operand: StoredOperand, _ order: ValueOrder) -> Int? {
        switch order {
        case .integer:
            if let number = form == .fixedInteger ? eightBytes.map({ Int64(bitPattern: $0) }) : int {
                if operand.isLarge { return -1 }
                return number < operand.number ? -1 : number > operand.number ? 1 : 0
            }
            guard tag == ValueTag.uint, let number = eightBytes else { return nil }
            guard operand.isLarge else { return 1 }
            let other = UInt64(bitPattern: operand.number)
            return number < other ? -1 : number > other ? 1 : 0
        case .double:
            guard tag == ValueTag.double, let bits = eightBytes else { return nil }
            let number = StoredOperand.sortable(bits)
            return number < operand.number ? -1 : number > operand.number ? 1 : 0
        case .bool:
            guard tag == ValueTag.true || tag == ValueTag.false else { return nil }
            return (tag == ValueTag.true ? 1 : 0) - Int(operand.number)
        case .decimal:
            guard tag == ValueTag.decimal, let a = DecimalText(payload), let b = DecimalText(operand.bytes) else {
                return nil
            }
            return a.order(to: b)
        case .bytes, .foldedText:
            return Bytes.compare(payload, operand.bytes)
        case .reference:
            return reference.map { Bytes.compare($0, operand.bytes) }
        }
    }
}

extension Bytes {
    /// Returns whether the bytes occur in this buffer.
    func contains(bytes: Bytes) -> Bool {
        guard let needle = bytes.baseAddress, bytes.count > 0 else { return true }
        guard let start = baseAddress, count >= bytes.count else { return false }
        let first = Int32(bytes[0]), last = count - bytes.count
        var offset = 0
        while offset <= last, let found = memchr(start + offset, first, last - offset + 1) {
            if memcmp(found, needle, bytes.count) == 0 { return true }
            offset = start.distance(to: UnsafeRawPointer(found)) + 1
        }
        return false
    }
}

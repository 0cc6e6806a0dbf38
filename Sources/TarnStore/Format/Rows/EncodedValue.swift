// An encoded value, read in place.

/// A tag and a payload, read without copying.
@usableFromInline
package struct EncodedValue {
    @usableFromInline package let bytes: Bytes

    /// Creates a view of a value. The bytes must not be empty.
    package init(_ bytes: Bytes) { self.bytes = bytes }

    @inlinable
    package var tag: UInt8 { bytes[0] }
    var payload: Bytes { bytes.slice(1..<bytes.count) }
    @inlinable package var isNull: Bool { tag == ValueTag.null }

    @inlinable @inline(__always)
    var int: Int64? {
        guard tag == ValueTag.int else { return nil }
        return switch bytes.count {
        case 2: Int64(Int8(bitPattern: bytes[1]))
        case 3: Int64(bytes.load(1, Int16.self))
        case 5: Int64(bytes.load(1, Int32.self))
        case 9: bytes.load(1, Int64.self)
        default: nil
        }
    }

    var eightBytes: UInt64? { bytes.count == 9 ? bytes.load(1, UInt64.self) : nil }

    /// The storage key of a to-one reference.
    @usableFromInline package var reference: Bytes? {
        switch tag {
        case ValueTag.reference where bytes.count > 1: payload
        case ValueTag.positionedReference where bytes.count > 5: bytes.slice(5..<bytes.count)
        default: nil
        }
    }

    /// Returns whether another value contains all information of this one.
    /// It is equal, or it adds a position to a reference to the same record.
    package func isContained(in other: EncodedValue) -> Bool {
        if Bytes.equal(bytes, other.bytes) { return true }
        guard tag == ValueTag.reference, other.tag == ValueTag.positionedReference, let a = reference,
            let b = other.reference
        else { return false }
        return Bytes.equal(a, b)
    }

    package var position: UInt32? {
        tag == ValueTag.positionedReference && bytes.count > 5 ? bytes.load(1, UInt32.self) : nil
    }

    /// Calls the closure with each storage key of a reference list.
    /// Returns false if the list is malformed.
    @discardableResult
    package func forEachReference(_ body: (Bytes) throws -> Void) rethrows -> Bool {
        guard tag == ValueTag.references else { return false }
        var offset = 1
        while offset < bytes.count {
            let end = offset + 1 + Int(bytes[offset])
            guard end > offset + 1, end <= bytes.count else { return false }
            try body(bytes.slice(offset + 1..<end))
            offset = end
        }
        return true
    }

    /// Calls the closure with each element of an array. Returns false if the array is malformed.
    @discardableResult
    func forEachElement(_ body: (EncodedValue) throws -> Void) rethrows -> Bool {
        guard tag == ValueTag.array else { return false }
        var offset = 1
        while offset < bytes.count {
            guard offset + 4 < bytes.count else { return false }
            let length = Int(bytes.load(offset, UInt32.self))
            guard length > 0, length <= bytes.count - offset - 4 else { return false }
            try body(EncodedValue(bytes.slice(offset + 4..<offset + 4 + length)))
            offset += 4 + length
        }
        return true
    }

    /// The form of the payload; nil for an unknown tag.
    @inline(__always) var form: ValueForm? { ValueTag.form(of: tag) }

    package var isWellFormed: Bool {
        switch form {
        case .null, .bool: bytes.count == 1
        case .integer: int != nil
        case .largeInteger, .double, .fixedInteger: bytes.count == 9
        case .uuid: bytes.count == 17
        case .bytes: true
        case .decimal: ExactDecimal(ascii: payload) != nil
        case .text: String(validating: payload, as: UTF8.self) != nil
        case .list:
            {
                var sound = true
                let complete = forEachElement { sound = sound && $0.tag != ValueTag.array && $0.isWellFormed }
                return sound && complete
            }()
        case .reference: reference != nil
        case .references: forEachReference { _ in }
        case .edges: bytes.count == EdgeList.valueSize
        case nil: false
        }
    }
}

extension ByteWriter {
    package mutating func appendValueNull() { append(ValueTag.null) }

    package mutating func appendValue(_ value: Bool) { append(value ? ValueTag.true : ValueTag.false) }

    package mutating func appendValue(_ value: Int64) {
        append(ValueTag.int)
        if let x = Int8(exactly: value) {
            append(UInt8(bitPattern: x))
        } else if let x = Int16(exactly: value) {
            appendLittleEndian(x)
        } else if let x = Int32(exactly: value) {
            appendLittleEndian(x)
        } else {
            appendLittleEndian(value)
        }
    }

    /// Appends an integer. A value that fits `Int64` is stored as a signed integer.
    package mutating func appendValue(_ value: UInt64) {
        if let signed = Int64(exactly: value) { return appendValue(signed) }
        append(ValueTag.uint)
        appendLittleEndian(value)
    }

    package mutating func appendValue(_ value: Double) {
        append(ValueTag.double)
        appendLittleEndian(value.bitPattern)
    }

    package mutating func appendValue(_ value: ExactDecimal) {
        append(ValueTag.decimal)
        append(value.description)
    }

    package mutating func appendValue(_ value: Timestamp) {
        append(ValueTag.date)
        appendLittleEndian(value.microseconds)
    }

    @inlinable
    package mutating func appendValue(tag: UInt8, _ payload: Bytes) {
        append(tag)
        append(payload)
    }

    /// Appends an element of a reference list. The tag of the list precedes the first element.
    package mutating func appendReferenceElement(_ key: Bytes) {
        append(UInt8(key.count))
        append(key)
    }
}

// Values that need nothing but their own bytes, for rows of files of unknown health.

extension JSONText {
    /// Appends a scalar value as `Value.appendJSON(to:)` does, without copying it first.
    ///
    /// Texts that are not ASCII are left to the caller: they may be malformed, and decoding repairs
    /// them.
    ///
    /// - Returns: False, with nothing appended, if the value must be decoded.
    package mutating func append(scalar value: EncodedValue) -> Bool {
        switch value.form {
        case .text where !value.payload.isASCII: false
        // Decoding finds what is malformed.
        case .decimal, .references, nil: false
        default: append(alone: value) ?? false
        }
    }

    /// Appends the key that a storage key stands for if it is one integer.
    package mutating func append(integerKey key: Bytes) -> Bool {
        guard let number = Int64(storageKey: key) else { return false }
        append(number)
        return true
    }
}

extension Bytes {
    /// Whether no byte is above 7F.
    var isASCII: Bool {
        var offset = 0
        while offset + 8 <= count {
            if loadUnaligned(fromByteOffset: offset, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { return false }
            offset += 8
        }
        while offset < count {
            if self[offset] >= 0x80 { return false }
            offset += 1
        }
        return true
    }
}

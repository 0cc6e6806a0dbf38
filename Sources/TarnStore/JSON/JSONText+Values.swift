import Foundation

extension JSONText {
    /// Appends a value as `Value.appendJSON(to:)` does, without copying it first.
    ///
    /// - Parameter whole: returns the key for a storage key that is a digest.
    /// - Returns: false if the value is malformed.
    mutating func append(
        _ value: EncodedValue, _ access: StoreAccess, whole: (Bytes) throws -> RecordKey?
    ) throws -> Bool {
        if let isSound = append(alone: value) { return isSound }
        if value.form == .list { return try append(list: value, access, whole: whole) }
        if let target = value.reference { return try append(key: target, whole) }
        append(UInt8(ascii: "["))
        var isFirst = true, isSound = true
        let isComplete = try access.forEachReference(value) { target in
            if !isFirst { append(UInt8(ascii: ",")) }
            isFirst = false
            isSound = try append(key: target, whole)
            return isSound
        }
        append(UInt8(ascii: "]"))
        return isComplete && isSound
    }

    /// Appends a value whose bytes are all that it takes, which most are.
    ///
    /// - Returns: whether the value is well-formed; nil, with nothing appended, if the store is
    ///   needed: for a list, references in a table of their own, or a key that is a digest.
    mutating func append(alone value: EncodedValue) -> Bool? {
        switch value.form {
        case .null: append(json: "null")
        case .bool: append(json: value.tag == ValueTag.true ? "true" : "false")
        case .integer:
            guard let number = value.int else { return false }
            append(number)
        case .largeInteger:
            guard let number = value.eightBytes else { return false }
            append(number)
        case .double:
            guard let number = value.eightBytes.map(Double.init(bitPattern:)) else { return false }
            append(json: number.isFinite ? "\(number)" : "null")
        case .decimal: append(json: value.payload)
        case .text:
            if value.tag == ValueTag.json { append(inLine: value.payload) } else { append(string: value.payload) }
        case .bytes:
            append(UInt8(ascii: "\""))
            append(json: Data(value.payload).base64EncodedString())
            append(UInt8(ascii: "\""))
        case .fixedInteger:
            guard let time = value.date else { return false }
            append(time)
        case .uuid:
            guard value.payload.count == 16 else { return false }
            append(uuid: value.payload)
        case .reference:
            guard let target = value.reference else { return false }
            return append(key: target)
        case .references: return append(references: value)
        case .list, .edges: return nil
        case nil: return false
        }
        return true
    }

    private mutating func append(references value: EncodedValue) -> Bool? {
        let start = count
        append(UInt8(ascii: "["))
        var state: Bool? = true
        let isComplete = value.forEachReference { target in
            guard state == true else { return }
            if count > start + 1 { append(UInt8(ascii: ",")) }
            state = append(key: target)
        }
        guard let isSound = state else {
            truncate(to: start)
            return nil
        }
        append(UInt8(ascii: "]"))
        return isComplete && isSound
    }

    private mutating func append(
        list value: EncodedValue, _ access: StoreAccess, whole: (Bytes) throws -> RecordKey?
    ) throws -> Bool {
        append(UInt8(ascii: "["))
        var isFirst = true, isSound = true
        let isComplete = try value.forEachElement { element in
            guard isSound else { return }
            if !isFirst { append(UInt8(ascii: ",")) }
            isFirst = false
            isSound = try append(element, access, whole: whole)
        }
        append(UInt8(ascii: "]"))
        return isComplete && isSound
    }

    /// Appends the key that a storage key stands for: a number, a text, or a list.
    private mutating func append(key: Bytes, _ whole: (Bytes) throws -> RecordKey?) throws -> Bool {
        if let isSound = append(key: key) { return isSound }
        guard let known = try whole(key) ?? RecordKey(reference: key) else { return false }
        append(known)
        return true
    }

    /// Appends the key that a storage key stands for. Nil, with nothing appended, for a digest.
    private mutating func append(key: Bytes) -> Bool? {
        if append(integerKey: key) { return true }
        if StorageKey.isDigest(key) { return nil }
        guard let known = RecordKey(storageKey: key) else { return false }
        append(known)
        return true
    }

    /// Appends a key; null for none.
    mutating func append(_ key: RecordKey?) {
        guard let key else { return append(json: "null") }
        var text = ""
        key.appendJSON(to: &text)
        append(json: text)
    }
}

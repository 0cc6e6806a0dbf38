// The bounds of a key range in encoded form.

/// The encoded bounds of a range of storage keys.
package struct KeyBounds {
    /// Inclusive.
    package private(set) var lower: [UInt8] = []
    /// Exclusive. Nil for no bound.
    package private(set) var upper: [UInt8]?
    /// Bounds that are as long as the part of a key in its storage key, or longer.
    /// Rows of long keys with the same beginning are compared by their whole keys.
    private var exactLower: [UInt8]?, exactUpper: (bytes: [UInt8], isIncluded: Bool)?

    package init(_ range: KeyRange, _ entity: Catalog.Entity) throws(StoreError) {
        try self.init(range, entity.keyTypes) { entity }
    }

    /// Encodes the bounds of a range.
    ///
    /// - Parameters:
    ///   - types: The types of the components of the entity's keys.
    ///   - entity: The entity for error messages. A closure, because a caller that stores it in an
    ///     object would otherwise copy the whole entity for nothing.
    init(_ range: KeyRange, _ types: [AttributeType], _ entity: () -> Catalog.Entity) throws(StoreError) {
        if let key = range.lower {
            let bytes = try KeyBounds.encode(key, types, entity)
            lower = bytes
            if bytes.count > StorageKey.longest {
                lower = Array(bytes.prefix(StorageKey.longest))
                exactLower = bytes
            }
        }
        switch range.upper {
        case .none: break
        case .excluded(let key): try setUpper(KeyBounds.encode(key, types, entity), isIncluded: false)
        case .included(let key): try setUpper(KeyBounds.encode(key, types, entity), isIncluded: true)
        }
    }

    private mutating func setUpper(_ bytes: [UInt8], isIncluded: Bool) {
        // No element begins with FF, so bytes with this prefix and FF are a longer text with an
        // escaped NUL. Only at the end of the part of a long key, FF precedes a digest.
        guard bytes.count >= StorageKey.longest, isIncluded || bytes.count > StorageKey.longest else {
            upper = isIncluded ? bytes + [0xFF] : bytes
            return
        }
        upper = KeyBounds.successor(Array(bytes.prefix(StorageKey.longest)))
        exactUpper = (bytes, isIncluded)
    }

    private static func encode(
        _ key: RecordKey, _ types: [AttributeType], _ entity: () -> Catalog.Entity
    ) throws(StoreError) -> [UInt8] {
        let fits =
            key.components.count <= types.count
            && zip(types, key.components).allSatisfy { type, component in
                switch (type, component) {
                case (.int, .int), (.string, .string), (.uuid, .uuid): true
                default: false
                }
            }
        guard fits else {
            let entity = entity()
            throw .wrongKey(entity: entity.name, expected: entity.keyForm, found: key.description)
        }
        return wholeEncoding(key)
    }

    private static func wholeEncoding(_ key: RecordKey) -> [UInt8] {
        var writer = ByteWriter()
        for component in key.components { writer.appendTuple(component) }
        return Array(writer.bytes)
    }

    /// Returns the least bytes greater than everything that begins with these. Nil if none exist.
    private static func successor(_ bytes: [UInt8]) -> [UInt8]? {
        var result = bytes
        while let last = result.popLast() {
            if last < 0xFF { return result + [last + 1] }
        }
        return nil
    }

    func isBeforeUpper(_ key: Bytes) -> Bool {
        upper.map { upper in upper.withUnsafeBytes { Bytes.compare(key, $0) < 0 } } ?? true
    }

    func isFromLower(_ key: Bytes) -> Bool { lower.withUnsafeBytes { Bytes.compare(key, $0) >= 0 } }

    /// Indicates that storage keys do not decide: a bound is as long as the part of a key in its
    /// storage key, or longer.
    package var comparesWholeKeys: Bool { exactLower != nil || exactUpper != nil }

    /// Returns whether only the whole key of a row decides if it is in the range.
    ///
    /// A key that ends where the part of a long bound in its storage key ends is less than the
    /// bound if the bound goes on with an escaped NUL.
    func needsWholeKey(_ storageKey: Bytes) -> Bool {
        guard exactLower != nil || exactUpper != nil,
            StorageKey.isDigest(storageKey) || storageKey.count == StorageKey.longest
        else { return false }
        let start = storageKey.slice(0..<StorageKey.longest)
        return [exactLower, exactUpper?.bytes].contains { $0?.starts(with: start) ?? false }
    }

    package func contains(_ key: RecordKey) -> Bool {
        let bytes = KeyBounds.wholeEncoding(key)
        func order(_ bound: [UInt8]) -> Int {
            bytes.withUnsafeBytes { a in bound.withUnsafeBytes { Bytes.compare(a, $0) } }
        }
        if let exactLower, order(exactLower) < 0 { return false }
        if let exactUpper {
            return order(exactUpper.isIncluded ? exactUpper.bytes + [0xFF] : exactUpper.bytes) < 0
        }
        return true
    }
}

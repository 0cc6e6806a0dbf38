// Type checks of values against the catalog, for every way of writing and for verification.

extension Catalog {
    /// Checks that a value has the type of a field. A null fits every field.
    ///
    /// - Parameters:
    ///   - isKnownJSON: whether texts in attributes of the type `json` were checked before.
    ///   - isStored: whether a record has the value already. It may then be an enumeration value
    ///     that the schema no longer has: records keep it.
    /// - Throws: `StoreError.wrongType` if the catalog declares another type, or if a text is not
    ///   JSON.
    package func check(
        _ value: EncodedValue, fits field: Catalog.Field, of entity: Catalog.Entity, isKnownJSON: Bool = false,
        isStored: Bool = false
    ) throws(StoreError) {
        let fits =
            switch field.kind {
            case .attribute(let type): value.fits(type, isStored: isStored)
            case .reference(let reference):
                value.fits(reference, keys: self.entity(id: reference.destination)?.keyTypes ?? [])
            }
        guard !fits else {
            // Rows are written as JSON without a look at their texts.
            guard !isKnownJSON, case .attribute(let type) = field.kind, let problem = value.jsonProblem(type) else {
                return
            }
            throw .wrongType(entity: entity.name, field: field.name, expected: type.description, found: problem)
        }
        throw .wrongType(
            entity: entity.name, field: field.name, expected: expectation(field), found: value.typeName)
    }

    private func expectation(_ field: Catalog.Field) -> String {
        switch field.kind {
        case .attribute(.enumeration(let values)): return EnumerationType(values: values).expectation
        case .attribute(let type): return type.description
        case .reference(let reference):
            guard let destination = self.entity(id: reference.destination) else { return "a reference" }
            return (reference.isToMany ? "keys of " : "a key of ") + "\(destination.name) (\(destination.keyForm))"
        }
    }
}

extension Catalog.Field {
    /// The tag of the values that fit, besides null. Nil if more than the tag decides.
    package var fittingTag: UInt8? {
        guard case .attribute(let type) = kind else { return nil }
        return switch type {
        case .bool, .uint, .enumeration, .array: nil
        default: type.tag
        }
    }
}

extension RowBody {
    /// Returns whether a storage key is that of the integer in a field.
    package func hasIntegerKey(_ field: UInt16, _ key: Bytes) -> Bool {
        guard let number = value(of: field)?.int, Int64(storageKey: key) == number else { return false }
        // The shortest form, the only one that is ever written.
        return key.count == 1 + (UInt64.bitWidth - number.magnitude.leadingZeroBitCount + 7) / 8
    }
}

extension EncodedValue {
    /// Returns whether the value has an attribute's type.
    ///
    /// - Parameter isStored: whether a text fits an enumeration that no longer has it.
    func fits(_ type: AttributeType, isStored: Bool = false) -> Bool {
        switch type {
        case _ where isNull: true
        case .bool: tag == ValueTag.true || tag == ValueTag.false
        // A value that fits `Int64` is stored as a signed integer.
        case .uint: tag == ValueTag.uint || (int.map { $0 >= 0 } ?? false)
        case .enumeration(let values):
            tag == ValueTag.string
                && (isStored
                    || values.contains { $0.utf8.count == payload.count && $0.utf8.elementsEqual(payload) })
        case .array(let element): allElements { $0.fits(element, isStored: isStored) }
        default: tag == type.tag
        }
    }

    private func allElements(_ isSound: (EncodedValue) -> Bool) -> Bool {
        var fits = true
        let isComplete = forEachElement { fits = fits && isSound($0) }
        return fits && isComplete
    }

    /// Returns whether the value is a reference, or a list of references, to keys of these types.
    func fits(_ reference: Catalog.Reference, keys types: [AttributeType]) -> Bool {
        if isNull { return true }
        guard reference.isToMany else { return self.reference?.isStorageKey(of: types) ?? false }
        var fits = true
        let isComplete = forEachReference { fits = fits && $0.isStorageKey(of: types) }
        return fits && isComplete
    }

    /// A description of the value's type, for messages.
    var typeName: String {
        switch tag {
        case ValueTag.null: "null"
        case ValueTag.true, ValueTag.false: "bool"
        case ValueTag.int, ValueTag.uint: int.map { "the number \($0)" } ?? "a large number"
        case ValueTag.string: payload.count <= 40 ? "\"\(String(decoding: payload, as: UTF8.self))\"" : "a long text"
        case ValueTag.array: "a list"
        case ValueTag.reference, ValueTag.positionedReference:
            "a reference to " + (reference.flatMap { RecordKey(storageKey: $0) }?.description ?? "a long key")
        case ValueTag.references, ValueTag.edges: "a list of references"
        default: AttributeType.named.first { $0.tag == tag }?.name ?? "an unknown type"
        }
    }
}

extension Bytes {
    /// Returns whether these bytes can be the storage key of a primary key of these types.
    fileprivate func isStorageKey(of types: [AttributeType]) -> Bool {
        // In a digest only the components before the cut can be checked.
        let isDigest = StorageKey.isDigest(self)
        var reader = TupleReader(isDigest ? slice(0..<StorageKey.longest) : self)
        for type in types {
            guard !reader.isAtEnd else { return isDigest }
            let code = self[reader.offset]
            let fits =
                switch type {
                case .int: (0x0C...0x1C).contains(code)
                case .string: code == TupleCode.string
                case .uuid: code == TupleCode.uuid
                default: false
                }
            guard fits else { return false }
            guard reader.skip() else { return isDigest }
        }
        return isDigest || reader.isAtEnd
    }
}

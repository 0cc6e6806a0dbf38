extension Store {
    /// Checks that record types fit the store: their names, keys and types of values.
    ///
    /// A service calls it once at its start. A type that does not fit is otherwise found when it is
    /// first used, and a type of values when a value is read. Of a `StoredRecord` that declares no
    /// types the names and the key are checked.
    ///
    /// ```swift
    /// try store.validate(Issue.self, User.self, Label.self)
    /// ```
    ///
    /// - Throws: `StoreError`: `.unknownEntity`, `.unknownField`, `.wrongKey`; `.wrongType` for an
    ///   attribute of another type, for one that may be missing although the struct requires it,
    ///   for an enumeration that lacks a value of the store's, and for an ``Inverse`` that no
    ///   relationship of its target names.
    public func validate(_ types: any StoredRecord.Type...) throws {
        try read { reader in
            for type in types { try reader.access.validate(type) }
        }
    }
}

extension StoreAccess {
    func validate<Record: StoredRecord>(_ type: Record.Type) throws {
        let entity = try plan(type)._withUnsafeGuaranteedRef { $0.entity }
        guard let typed = type as? any TypedRecord.Type else { return }
        for declaration in typed.fields {
            if let target = declaration.storedBy { try check(declaration, of: entity, isStoredBy: target) }
            guard let field = entity.field(declaration.name) else { continue }
            switch (field.kind, declaration.attribute, declaration.relationship) {
            case (.attribute(let stored), let own?, _):
                guard own.type.reads(stored), own.isOptional || own.defaultValue != nil || !field.isOptional else {
                    throw StoreError.wrongType(
                        entity: entity.name, field: field.name,
                        expected: stored.descriptor.expectation + (field.isOptional ? "?" : ""),
                        found: own.type.descriptor.expectation + (own.isOptional ? "?" : ""))
                }
            case (.reference(let reference), _, let own?):
                let destination = catalog.entity(id: reference.destination)?.name ?? ""
                guard own.destination == destination, own.isToMany == reference.isToMany else {
                    throw StoreError.wrongType(
                        entity: entity.name, field: field.name,
                        expected: (reference.isToMany ? "keys of " : "a key of ") + destination,
                        found: (own.isToMany ? "keys of " : "a key of ") + own.destination)
                }
            case (.attribute(let stored), nil, _):
                throw StoreError.wrongType(
                    entity: entity.name, field: field.name, expected: stored.description, found: "a reference")
            case (.reference, _, nil):
                throw StoreError.wrongType(
                    entity: entity.name, field: field.name, expected: "a reference", found: "an attribute")
            }
        }
    }

    /// Checks that a relationship of the target names an inverse.
    private func check(
        _ inverse: FieldDeclaration, of entity: Catalog.Entity, isStoredBy target: String
    ) throws(StoreError) {
        let known = catalog.relationship(inverse.name, of: entity)
        let owner = known.flatMap { catalog.entity(id: $0.destination) }
        if let owner, let stored = catalog.entity(target),
            stored.id == owner.id || catalog.ancestors(of: stored.id).contains(owner.id)
        {
            return
        }
        throw .wrongType(
            entity: entity.name, field: inverse.name,
            expected: "the inverse of a relationship of \(target) that names it: inverse: \"\(inverse.name)\"",
            found: owner.map { "the inverse of one of \($0.name)" } ?? "none")
    }
}

extension AttributeType {
    /// Whether every value of another type can be read as one of this type.
    fileprivate func reads(_ stored: AttributeType) -> Bool {
        switch (self, stored) {
        case (.string, .string), (.string, .url), (.string, .json), (.string, .enumeration), (.url, .string): true
        case (.enumeration(let own), .enumeration(let others)): Set(others).isSubset(of: own)
        case (.array(let own), .array(let other)): own.reads(other)
        default: self == stored
        }
    }
}

/// Rows of any entity as JSON objects, written from their bytes.
///
/// The values are as `Value.appendJSON(to:)` writes them.
struct RecordJSON: ~Copyable {
    private let access: StoreAccess
    private var members: JSONMembers.OfEntities
    /// The members of included records, which have every field.
    private var targetMembers = JSONMembers.OfEntities(JSONShape())
    private var text = JSONText()

    init(_ access: StoreAccess, _ shape: JSONShape) {
        self.access = access
        members = JSONMembers.OfEntities(shape)
    }

    /// Calls a closure with a row as a JSON object in UTF-8.
    ///
    /// - Parameter entity: the entity of the row if the catalog does not know it.
    /// - Throws: `StoreError.damagedRow`, `.lmdb`, and the errors of the closure.
    mutating func write(
        _ key: Bytes, _ row: EncodedRow, entity: @autoclosure () -> Catalog.Entity, _ body: (Bytes) throws -> Void
    ) throws {
        let members = try members.of(row.entity, access, else: entity())
        text.removeAll()
        guard try append(row.body, members, key) else {
            throw StoreError.damagedRow(entity: members.entity.name, key: access.describe(key))
        }
        try body(text.bytes)
    }

    /// Appends an object with the values of a row. Returns false if one is malformed.
    private mutating func append(_ body: RowBody, _ members: JSONMembers, _ key: Bytes) throws -> Bool {
        let start = text.count
        members.opening.withUnsafeBytes { text.append(json: $0) }
        guard try members.isWhole ? appendAll(body, members) : appendChosen(body, members) else { return false }
        for relation in members.relations {
            text.append(UInt8(ascii: ","))
            text.append(name: relation.relationship.name)
            guard try append(relation, of: key, body) else { return false }
        }
        // The first member follows the brace, not a comma.
        if members.opening.isEmpty { text.begin(at: start) }
        text.append(UInt8(ascii: "}"))
        return true
    }

    private mutating func appendAll(_ body: RowBody, _ members: JSONMembers) throws -> Bool {
        // Every value is read: decompressed at once, each is found without a search.
        guard let body = body.undivided else { return false }
        let fields = members.fields
        var next = 0
        for index in 0..<body.count {
            let id = body.id(at: index)
            if id == WholeKey.field { continue }
            // Both are in ascending order of ids.
            while next < fields.count, fields[next].id < id { next += 1 }
            if next < fields.count, fields[next].id == id {
                if fields[next].name.isEmpty { continue }
                members.append(fields[next].name, to: &text)
            } else {
                if members.removed.contains(id) { continue }
                text.append(UInt8(ascii: ","))
                text.append(name: "#\(id)")
            }
            guard let value = body.value(at: index), try append(value, id, members) else { return false }
        }
        return true
    }

    private mutating func appendChosen(_ body: RowBody, _ members: JSONMembers) throws -> Bool {
        for field in members.fields {
            guard let value = body.value(of: field.id) else { continue }
            members.append(field.name, to: &text)
            guard try append(value, field.id, members) else { return false }
        }
        return !body.isDamaged
    }

    @inline(__always)
    private mutating func append(_ value: EncodedValue, _ id: UInt16, _ members: JSONMembers) throws -> Bool {
        try text.append(alone: value) ?? appendWithStore(value, id, members)
    }

    /// Appends a value for which the store is needed. Returns false if it is malformed.
    @inline(never)
    private mutating func appendWithStore(_ value: EncodedValue, _ id: UInt16, _ members: JSONMembers) throws -> Bool {
        let access = access
        return try text.append(value, access) { try access.wholeKey(ofDigest: $0, in: members.entity.field(id: id)) }
    }

    /// Appends the objects of a relationship's targets: one or null, or a list.
    private mutating func append(_ relation: JSONMembers.Relation, of key: Bytes, _ body: RowBody) throws -> Bool {
        let access = access, isToMany = relation.relationship.isToMany
        var isFirst = true
        if isToMany { text.append(UInt8(ascii: "[")) }
        func visit(_ target: Bytes) throws -> Bool {
            if !isFirst { text.append(UInt8(ascii: ",")) }
            isFirst = false
            try access.lending {
                guard let row = try access.records.row(relation.destination, target) else {
                    return text.append(RecordKey(reference: target))
                }
                let members = try targetMembers.of(row.entity, access, else: relation.destination)
                guard try append(row.body, members, target) else {
                    throw StoreError.damagedRow(entity: members.entity.name, key: access.describe(target))
                }
            }
            return isToMany
        }
        var isSound = true
        if !relation.relationship.isStored {
            try access.targets(of: key, relation.relationship, visit)
        } else if let value = body.value(of: relation.relationship.field), !value.isNull {
            if let target = value.reference {
                _ = try visit(target)
            } else {
                isSound = try access.forEachReference(value, visit)
            }
        }
        if isToMany { text.append(UInt8(ascii: "]")) } else if isFirst { text.append(json: "null") }
        return isSound
    }
}

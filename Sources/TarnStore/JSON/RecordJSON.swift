internal import LMDB

/// Rows of any entity as JSON objects, written from their bytes.
///
/// The members are those of ``Record/fields``, with values as `Value.appendJSON(to:)` writes them.
struct RecordJSON: ~Copyable {
    private let access: StoreAccess
    /// The name of the first member, whose value is the name of the record's entity; nil for none.
    private let kindName: String?
    private var entities: [UInt16: EntityMembers] = [:]
    /// The members of the last row's entity: most often also those of the next one's.
    private var members: EntityMembers?
    private var text = JSONText()

    /// The parts of the objects of an entity that are the same in each.
    private final class EntityMembers {
        let entity: Catalog.Entity
        /// The opening brace, with the kind.
        let opening: [UInt8]
        /// The id of each field, its name as JSON with a colon, and a reference's destination.
        let fields: [(id: UInt16, name: [UInt8], destination: Catalog.Entity?)]
        let removed: Set<UInt16>

        init(_ entity: Catalog.Entity, _ kindName: String?, _ access: StoreAccess) throws {
            func bytes(_ write: (inout JSONText) -> Void) -> [UInt8] {
                var text = JSONText()
                write(&text)
                return Array(text.bytes)
            }
            self.entity = entity
            opening = bytes { text in
                text.append(UInt8(ascii: "{"))
                guard let kindName else { return }
                text.append(name: kindName)
                var name = entity.name
                name.withUTF8 { text.append(string: Bytes($0)) }
            }
            fields = entity.fields.map { field in
                var destination: Catalog.Entity?
                if case .reference(let reference) = field.kind {
                    destination = access.catalog.entity(id: reference.destination)
                }
                return (field.id, bytes { $0.append(name: field.name) }, destination)
            }
            removed = try access.removedFields(of: entity.id)
        }
    }

    init(_ access: StoreAccess, kindName: String?) {
        self.access = access
        self.kindName = kindName
    }

    /// Calls a closure with a row as a JSON object in UTF-8.
    ///
    /// - Throws: `StoreError.damagedRow`, `.lmdb`, and the errors of the closure.
    mutating func write(
        _ entity: Catalog.Entity, _ key: Bytes, _ row: EncodedRow, _ body: (Bytes) throws -> Void
    ) throws {
        let members = try members(of: row.entity, in: entity), access = access
        text.removeAll()
        members.opening.withUnsafeBytes { text.append(json: $0) }
        var isFirst = kindName == nil, next = 0
        for index in 0..<row.body.count {
            let id = row.body.id(at: index)
            if id == WholeKey.field { continue }
            // Both are in ascending order of ids.
            while next < members.fields.count, members.fields[next].id < id { next += 1 }
            let isKnown = next < members.fields.count && members.fields[next].id == id
            if !isKnown, members.removed.contains(id) { continue }
            if !isFirst { text.append(UInt8(ascii: ",")) }
            isFirst = false
            var destination: Catalog.Entity?
            if isKnown {
                members.fields[next].name.withUnsafeBytes { text.append(json: $0) }
                destination = members.fields[next].destination
            } else {
                text.append(name: "#\(id)")
            }
            let isSound = try row.body.value(at: index).map { value in
                try text.append(value, access) { digest in
                    destination.flatMap { access.wholeKey($0, ofDigest: digest) }
                }
            }
            guard isSound == true else {
                throw StoreError.damagedRow(entity: members.entity.name, key: access.describe(key))
            }
        }
        text.append(UInt8(ascii: "}"))
        try body(text.bytes)
    }

    private mutating func members(of id: UInt16, in entity: Catalog.Entity) throws -> EntityMembers {
        if let members, members.entity.id == id { return members }
        let found = try entities[id] ?? EntityMembers(access.catalog.entity(id: id) ?? entity, kindName, access)
        entities[id] = found
        members = found
        return found
    }
}

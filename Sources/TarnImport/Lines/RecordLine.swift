// A line of `tarn inspect dump`, read back as a record by a catalog.

import Foundation
internal import TarnStore

/// A record with its key, version and fields, as a line of a dump has it.
struct RecordLine: Sendable {
    /// The reason why a line cannot be imported.
    struct Problem: Error, Hashable, CustomStringConvertible {
        var description: String

        init(_ description: String) { self.description = description }
    }

    var entity: String
    var key: RecordKey
    /// The version; nil in a dump without versions.
    var version: UInt64?
    var isPartial: Bool
    var fields: [Record.Field]

    /// The highest version that is imported: far more commits can follow it than will ever be made.
    static let highestVersion = UInt64(Int64.max)
    /// The levels of a line around the JSON of a field: the line, its fields, and a list.
    static let levels = 3

    /// Reads a line.
    ///
    /// - Parameter text: the line as it is written, for the texts of JSON attributes.
    init(_ line: JSONValue, _ catalog: Catalog, text: String = "") throws(Problem) {
        guard case .object(let members) = line else { throw Problem("not an object") }
        for member in members where !["entity", "key", "version", "partial", "fields"].contains(member.key) {
            throw Problem("unknown member \"\(member.key)\": not a line of `tarn inspect dump`")
        }
        if let name = RecordLine.repeated(members) { throw Problem("\"\(name)\" occurs twice") }
        guard case .string(let name)? = line["entity"] else { throw Problem("\"entity\" is missing") }
        guard let entity = catalog.entity(name) else {
            throw Problem(Spelling.unknown("entity", name, among: catalog.entities.map(\.name)))
        }
        guard let key = line["key"] else { throw Problem("\"key\" is missing") }
        self.entity = name
        guard key["digest"] == nil else {
            throw Problem("\"key\" is a digest, from which no key can be made")
        }
        self.key = try RecordLine.key(key, entity)
        switch line["version"] {
        case nil: version = nil
        case .number(let text):
            guard let number = UInt64(text), number <= RecordLine.highestVersion else {
                throw Problem("the version \(text) is no number of a commit")
            }
            version = number
        default: throw Problem("the version is no number")
        }
        switch line["partial"] {
        case nil, .bool(false): isPartial = false
        case .bool(true): isPartial = true
        default: throw Problem("\"partial\" is neither true nor false")
        }
        guard case .object(let values)? = line["fields"] else { throw Problem("\"fields\" is missing") }
        if let field = RecordLine.repeated(values) { throw Problem("the field \"\(field)\" occurs twice") }
        fields = []
        for member in values { fields.append(try RecordLine.field(member, entity, catalog)) }
        let names = fields.filter { if case .json = $0.value { true } else { false } }.map(\.name)
        guard !names.isEmpty else { return }
        let texts = WrittenFields.texts(of: text, Set(names))
        for index in fields.indices {
            if case .json = fields[index].value, let text = texts[fields[index].name] {
                fields[index].value = .json(text)
            }
        }
    }

    /// Returns the key of the first member whose key an earlier one has; nil if there is none.
    private static func repeated(_ members: [JSONValue.Member]) -> String? {
        var keys: Set<[UInt8]> = []
        return members.first { !keys.insert(Array($0.key.utf8)).inserted }?.key
    }

    private static func field(
        _ member: JSONValue.Member, _ entity: Catalog.Entity, _ catalog: Catalog
    ) throws(Problem) -> Record.Field {
        guard let field = entity.field(member.key) else {
            throw Problem(
                "\(entity.name): " + Spelling.unknown("field", member.key, among: entity.fields.map(\.name)))
        }
        if case .null = member.value { return Record.Field(field.name, .null) }
        func wrong(_ expected: String) -> Problem {
            Problem("\(entity.name).\(field.name): expected \(expected), found \(member.value.text.prefix(100))")
        }
        switch field.kind {
        case .attribute(let type):
            guard let value = Value(member.value, type) else { throw wrong("\(type)") }
            return Record.Field(field.name, value)
        case .reference(let reference):
            guard let destination = catalog.entity(id: reference.destination) else { throw wrong("a known entity") }
            guard reference.isToMany else {
                return Record.Field(field.name, .reference(try key(member.value, destination)))
            }
            guard case .array(let elements) = member.value else { throw wrong("a list of keys") }
            var keys: [RecordKey] = []
            for element in elements { keys.append(try key(element, destination)) }
            return Record.Field(field.name, .references(keys))
        }
    }

    private static func key(_ json: JSONValue, _ entity: Catalog.Entity) throws(Problem) -> RecordKey {
        let types = entity.keyTypes
        var values = [json]
        if types.count > 1, case .array(let components) = json { values = components }
        if case .object(let members) = json, members.count == 1, let digest = json["digest"] {
            return RecordKey([.digest(try storageKey(digest, entity))])
        }
        var components: [KeyComponent] = []
        if values.count == types.count {
            components = zip(types, values).compactMap { type, value in
                switch Value(value, type) {
                case .int(let x): .int(x)
                case .string(let x): .string(x)
                case .uuid(let x): .uuid(x)
                default: nil
                }
            }
        }
        guard !components.isEmpty, components.count == types.count else {
            throw Problem("the key \(json.text.prefix(100)) is not one of \(entity.name)")
        }
        return RecordKey(components)
    }
}

extension Value {
    /// Reads a value as `appendJSON` writes it; nil if it is not of the type.
    init?(_ json: JSONValue, _ type: AttributeType) {
        switch (type, json) {
        case (_, .null): self = .null
        case (.bool, .bool(let x)): self = .bool(x)
        case (.int, .number(let text)):
            guard let x = Int64(text) else { return nil }
            self = .int(x)
        case (.uint, .number(let text)):
            guard let x = UInt64(text) else { return nil }
            self = Int64(exactly: x).map { .int($0) } ?? .uint(x)
        case (.double, .number(let text)):
            guard let x = Double(text), x.isFinite else { return nil }
            self = .double(x)
        case (.decimal, .number(let text)), (.decimal, .string(let text)):
            guard let x = ExactDecimal(text) else { return nil }
            self = .decimal(x)
        case (.json, _): self = .json(json.text)
        case (.string, .string(let x)), (.enumeration, .string(let x)): self = .string(x)
        case (.url, .string(let x)): self = .url(x)
        case (.bytes, .string(let x)):
            guard let bytes = Data(base64Encoded: x) else { return nil }
            self = .bytes([UInt8](bytes))
        case (.date, .string(let x)):
            guard let time = Timestamp(description: x) else { return nil }
            self = .date(time)
        case (.uuid, .string(let x)):
            guard let id = UUID(uuidString: x) else { return nil }
            self = .uuid(id)
        case (.array(let element), .array(let values)):
            let elements = values.compactMap { Value($0, element) }
            guard elements.count == values.count else { return nil }
            self = .array(elements)
        default: return nil
        }
    }
}

extension RecordLine {
    /// Returns the storage key of a long key whose record was missing when the dump was made.
    private static func storageKey(_ json: JSONValue, _ entity: Catalog.Entity) throws(Problem) -> [UInt8] {
        var bytes: [UInt8] = []
        if case .string(let text) = json { bytes = [UInt8](hexadecimal: text) ?? [] }
        guard bytes.count == StorageKey.digestLength, bytes[StorageKey.longest] == 0xFF else {
            throw Problem(
                "the digest of a long key of \(entity.name) is not \(2 * StorageKey.digestLength) hexadecimal digits of one"
            )
        }
        return bytes
    }
}

import TarnStore

/// The records that a dump contains, and the fields that it shows of them.
package struct RecordSelection: Sendable {
    /// An interval of keys.
    package enum Keys: Sendable {
        case all
        case range(KeyRange)
        /// Keys whose first component is a text with this beginning.
        case text(beginning: String)
    }

    /// The condition that records meet, with their treatment if they are partial.
    package var query: Query?
    /// The keys of the records.
    package var keys = Keys.all
    /// The most records.
    package var limit: Int?
    /// Whether the last key comes first, and the last entity.
    package var isReversed = false
    /// The fields to show, in this order; nil for all.
    package var fields: [String]?
    /// Fields whose values are replaced, as `field` or `Entity.field`.
    package var redacted: [String] = []

    /// Creates a selection of all records with all fields.
    package init() {}

    /// The value in place of a redacted one.
    package static let redaction = "[redacted]"
}

/// An error of a selection, which the caller has to mend.
package enum RecordSelectionError: Error, Hashable, CustomStringConvertible {
    /// A field of a key is to be redacted.
    case redactedKey(entity: String, field: String)
    /// No entity has a field of this name.
    case unknownField(name: String, known: [String])
    /// The keys of an entity do not begin with a text.
    case noTextKey(entity: String, type: String)
    /// An option needs an entity.
    case noEntity(option: String)
    /// The file has no table of this name.
    case unknownTable(name: String, known: [String])
    /// No index of all records sorts an attribute.
    case noOrder(field: String, sorted: [String])

    package var description: String {
        switch self {
        case .redactedKey(let entity, let field):
            "\(entity).\(field) is part of the key, which references repeat: it cannot be redacted"
        case .unknownField(let name, let known): Spelling.unknown("field", name, among: known)
        case .noTextKey(let entity, let type):
            "keys of \(entity) are of the type \(type) and have no beginning; use a range of keys"
        case .noEntity(let option): "\(option) needs an entity"
        case .unknownTable(let name, let known): Spelling.unknown("table", name, among: known)
        case .noOrder(let field, let sorted):
            "no index sorts all records by \(field)"
                + (sorted.isEmpty ? "" : "; indexes sort them by " + sorted.joined(separator: ", "))
        }
    }
}

/// The form of a selection's records: its fields, with redacted values replaced.
struct SelectedFields {
    private let shown: [String]?
    /// The redacted fields by concrete entity.
    private var redacted: [String: Set<String>] = [:]

    init(_ selection: RecordSelection, _ catalog: Catalog, among entities: [Catalog.Entity]) throws {
        shown = selection.fields
        let named = catalog.entities.filter { kind in entities.contains { catalog.isKind(kind.id, of: $0.id) } }
        for name in selection.fields ?? [] where !named.contains(where: { $0.field(name) != nil }) {
            throw RecordSelectionError.unknownField(name: name, known: SelectedFields.names(named))
        }
        for name in selection.redacted { try redact(name, catalog) }
    }

    private static func names(_ entities: [Catalog.Entity]) -> [String] {
        Array(Set(entities.flatMap { $0.fields.map(\.name) })).sorted()
    }

    private mutating func redact(_ text: String, _ catalog: Catalog) throws {
        var name = text, owners = catalog.entities
        if let dot = text.firstIndex(of: "."), let owner = catalog.entity(String(text[..<dot])) {
            name = String(text[text.index(after: dot)...])
            owners = catalog.entities.filter { catalog.isKind($0.id, of: owner.id) }
            guard owners.contains(where: { $0.field(name) != nil }) else {
                throw StoreError.unknownField(entity: owner.name, name: name, known: owner.fields.map(\.name))
            }
        }
        owners = owners.filter { $0.field(name) != nil }
        guard !owners.isEmpty else {
            throw RecordSelectionError.unknownField(name: text, known: SelectedFields.names(catalog.entities))
        }
        for owner in owners {
            if let field = owner.field(name), owner.key.contains(field.id) {
                throw RecordSelectionError.redactedKey(entity: owner.name, field: name)
            }
            redacted[owner.name, default: []].insert(name)
        }
    }

    /// Returns a record with its selected fields.
    func apply(to record: Record) -> Record {
        var record = record
        if let shown {
            record.fields = shown.compactMap { name in record.fields.first { $0.name == name } }
        }
        if let hidden = redacted[record.entity] {
            for index in record.fields.indices where hidden.contains(record.fields[index].name) {
                record.fields[index].value = .string(RecordSelection.redaction)
            }
        }
        return record
    }
}

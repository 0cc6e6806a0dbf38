import Foundation
import TarnStore

/// A value of a field as the page shows it: a text, and the records that it refers to.
///
/// Texts, not numbers: a browser would round integers of more than 53 bits.
struct FieldText: Encodable {
    /// A record that a value refers to.
    struct Target: Encodable {
        var entity: String
        var key: String
        var id: String
    }

    /// The longest text that is sent, in characters; a longer one is cut, and `cut` has its length.
    static let longest = 10_000
    /// The most targets that are sent.
    static let targets = 200

    var name: String
    var kind: String
    var text: String?
    /// The length of a text that was cut.
    var cut: Int?
    var targets: [Target]?
    /// The number of targets, if there are more than are sent.
    var more: Int?

    init(_ field: Record.Field, _ entity: Catalog.Entity?, _ catalog: Catalog, longest: Int = FieldText.longest) {
        name = field.name
        switch field.value {
        case .reference(let key):
            (kind, targets) = ("reference", [])
            targets = [Self.target(key, Self.destination(field.name, entity, catalog))]
        case .references(let keys):
            kind = "references"
            let destination = Self.destination(field.name, entity, catalog)
            targets = keys.prefix(Self.targets).map { Self.target($0, destination) }
            if keys.count > Self.targets { more = keys.count }
        case .null: kind = "null"
        case .string(let value), .url(let value): (kind, text) = ("text", value)
        case .date(let value): (kind, text) = ("date", value.description)
        case .bytes(let value): (kind, text) = ("bytes", "\(value.count) bytes: " + Hexadecimal.text(value.prefix(256)))
        case .bool, .int, .uint, .double, .decimal: (kind, text) = ("number", field.value.jsonText)
        case .uuid(let value): (kind, text) = ("text", value.uuidString.lowercased())
        case .json, .array: (kind, text) = ("json", field.value.jsonText)
        }
        // A grapheme cluster may have any number of scalars.
        if let whole = text?.unicodeScalars, whole.count > longest {
            cut = whole.count
            text = String(whole.prefix(longest))
        }
    }

    private static func destination(_ name: String, _ entity: Catalog.Entity?, _ catalog: Catalog) -> String? {
        guard case .reference(let reference)? = entity?.fields.first(where: { $0.name == name })?.kind else {
            return nil
        }
        return catalog.entity(id: reference.destination)?.name
    }

    private static func target(_ key: RecordKey, _ entity: String?) -> Target {
        Target(entity: entity ?? "", key: key.description, id: Hexadecimal.text(key.storageKey))
    }

    /// Whether any value of a record, or its key, contains a text; case is ignored.
    static func contains(_ text: String, _ record: Record) -> Bool {
        func has(_ whole: String) -> Bool { whole.range(of: text, options: [.caseInsensitive]) != nil }
        if has(record.key.description) { return true }
        return record.fields.contains { field in
            switch field.value {
            case .string(let value), .url(let value), .json(let value): has(value)
            case .null: false
            default: has(field.value.jsonText)
            }
        }
    }
}

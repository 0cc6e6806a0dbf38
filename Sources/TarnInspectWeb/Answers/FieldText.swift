import Foundation
import TarnInspect
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
        /// `missing` or `unreadable`; nil for a stored record, and for one that was not looked up.
        var state: String?
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

    /// - Parameters:
    ///   - longest: The longest text, in characters.
    ///   - most: The most targets.
    ///   - states: The states of the targets.
    init(
        _ field: Record.Field, _ entity: Catalog.Entity?, _ catalog: Catalog, longest: Int = FieldText.longest,
        most: Int = FieldText.targets, _ states: TargetStates
    ) {
        name = field.name
        switch field.value {
        case .reference(let key):
            kind = "reference"
            targets = [Target(key, Self.destination(field.name, entity, catalog), states)]
        case .references(let keys):
            kind = "references"
            let destination = Self.destination(field.name, entity, catalog)
            targets = keys.prefix(most).map { Target($0, destination, states) }
            if keys.count > most { more = keys.count }
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

    private static func destination(_ name: String, _ entity: Catalog.Entity?, _ catalog: Catalog) -> Catalog.Entity? {
        guard case .reference(let reference)? = entity?.fields.first(where: { $0.name == name })?.kind else {
            return nil
        }
        return catalog.entity(id: reference.destination)
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

extension FieldText.Target {
    /// - Parameter entity: The entity of the record; nil if the store does not have it.
    init(_ key: RecordKey, _ entity: Catalog.Entity?, _ states: TargetStates) {
        self.entity = entity?.name ?? ""
        self.key = key.description
        id = Hexadecimal.text(key.storageKey)
        if let state = entity.flatMap({ states.state(of: key, $0) }), state != .stored { self.state = state.rawValue }
    }
}

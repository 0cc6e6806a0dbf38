// The output of records: as a table, or as JSON lines with nested related records.

import Foundation
import Tarn

struct RecordPrinter {
    let entity: Catalog.Entity
    let catalog: Catalog
    let format: OutputFormat
    /// The names of the fields to show; all if empty.
    var fields: [String] = []
    /// The relationships to follow.
    var included: [String] = []

    /// Parses the names in the argument of `--fields`.
    static func names(in argument: String) -> [String] {
        argument.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    /// Checks the names of fields and relationships.
    ///
    /// - Throws: `StoreError.unknownField` for a name that the entity does not have.
    func check() throws {
        let relationships = catalog.relationships(of: entity).map(\.name)
        for name in fields where entity.field(name) == nil && !relationships.contains(name) {
            throw StoreError.unknownField(
                entity: entity.name, name: name, known: entity.fields.map(\.name) + relationships)
        }
        for name in included where !relationships.contains(name) {
            throw StoreError.unknownField(entity: entity.name, name: name, known: relationships)
        }
    }

    /// Formats a record as a flat JSON object.
    ///
    /// Included relationships are objects or lists of objects; a missing target is its key.
    func json(_ record: Record, _ reader: borrowing StoreReader) throws -> String {
        var text = "{", isFirst = true
        func name(_ name: String) {
            if !isFirst { text += "," }
            isFirst = false
            text.appendJSONString(name)
            text += ":"
        }
        for field in record.fields where isShown(field.name) && !included.contains(field.name) {
            name(field.name)
            field.value.appendJSON(to: &text)
        }
        for relationship in included {
            name(relationship)
            let isToMany = catalog.relationship(relationship, of: entity)?.isToMany ?? false
            var items: [String] = []
            try reader.forEachRelated(entity.name, record.key, relationship) { target in
                items.append(RecordPrinter.json(target))
                return true
            }
            text += isToMany ? "[" + items.joined(separator: ",") + "]" : items.first ?? "null"
        }
        return text + "}"
    }

    static func json(_ target: StoreReader.Target) -> String {
        var text = ""
        if let record = target.record {
            record.appendFieldsJSON(to: &text)
        } else if let key = target.key {
            key.appendJSON(to: &text)
        } else {
            text = "null"
        }
        return text
    }

    /// The columns of a table: the requested fields, else the key and the short attributes.
    var columns: [String] {
        if !fields.isEmpty { return fields + included.filter { !fields.contains($0) } }
        let keys = entity.key.compactMap { entity.field(id: $0)?.name }
        let short = entity.fields.filter { field in
            guard !keys.contains(field.name), case .attribute(let type) = field.kind else { return false }
            return type.isShort && !["body", "description", "text", "content"].contains(field.name)
        }
        return keys + short.prefix(5).map(\.name) + included
    }

    func cells(_ record: Record, _ reader: borrowing StoreReader) throws -> [String] {
        try columns.map { column in
            if included.contains(column) || entity.field(column) == nil {
                var labels: [String] = []
                try reader.forEachRelated(entity.name, record.key, column) { target in
                    labels.append(RecordPrinter.label(target))
                    return labels.count < 6
                }
                return labels.joined(separator: ", ")
            }
            return record[column]?.plainText ?? ""
        }
    }

    /// Returns a short label of a record: its name, else its key.
    static func label(_ target: StoreReader.Target) -> String {
        guard let record = target.record else { return "\(target.key?.description ?? "?") (missing)" }
        for name in ["login", "name", "username", "title", "label", "slug"] {
            if case .string(let text)? = record[name], !text.isEmpty { return text }
        }
        return record.key.description
    }

    private func isShown(_ field: String) -> Bool { fields.isEmpty || fields.contains(field) }
}

// Records as rows: their columns by default or by name, with related records.

import Foundation
import Tarn

struct RecordPrinter {
    let entity: Catalog.Entity
    let catalog: Catalog
    let style: OutputStyle
    /// The names of the relationships to include.
    let included: [String]
    /// The columns that `--fields` names; nil for the default.
    private var chosen: [RecordColumn]?
    /// The columns of tables: the named ones; else, for people, the key and the short attributes.
    private(set) var columns: [RecordColumn] = []
    /// The relationships whose targets columns show by their names; nil for other columns.
    private var labelled: [String?] = []
    /// The entities below the entity: its records may be of them.
    private let kinds: [Catalog.Entity]

    /// Creates a printer.
    ///
    /// - Parameter fields: the argument of `--fields`: names and paths, separated by commas, or
    ///   `all`; empty for the default.
    /// - Throws: `StoreError.unknownField` for a name that the entity does not have.
    init(
        _ entity: Catalog.Entity, _ catalog: Catalog, _ style: OutputStyle, fields: String = "",
        included: [String] = []
    ) throws {
        self.entity = entity
        self.catalog = catalog
        self.style = style
        self.included = included.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        kinds = catalog.entities.filter { $0.id != entity.id && catalog.isKind($0.id, of: entity.id) }
        let names = RecordPrinter.names(in: fields)
        chosen = nil
        let relationships = catalog.relationships(of: entity).map(\.name)
        for name in included where !relationships.contains(name) {
            throw StoreError.unknownField(entity: entity.name, name: name, known: relationships)
        }
        if !names.isEmpty {
            chosen =
                names == ["all"] && entity.field("all") == nil || names == ["*"]
                ? allColumns : try names.map { try column($0) }
        }
        let own = chosen ?? (style.format.isForPeople ? shortColumns : allColumns)
        columns = own + included.filter { name in !own.contains { $0.name == name } }.map(RecordColumn.included)
        labelled = columns.map { style.format.isForPeople ? relationshipToLabel($0) : nil }
    }

    /// Parses the names in the argument of `--fields`.
    static func names(in argument: String) -> [String] {
        argument.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.reduce(into: []) { names, name in
            // A name twice would be a member twice.
            if !name.isEmpty, !names.contains(name) { names.append(name) }
        }
    }

    func relationship(_ name: String, of entity: String) -> Catalog.Relationship? {
        catalog.entity(entity).flatMap { catalog.relationship(name, of: $0) }
    }

    // MARK: Columns

    /// Resolves a name or a path. The fields of kinds count, too.
    private func column(_ text: String) throws -> RecordColumn {
        if text == RecordColumn.kindName { return .kind }
        if hasField(text, [entity] + kinds) { return included.contains(text) ? .included(text) : .field(text) }
        let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard !names.contains("") else {
            throw Failure(.usage, "--fields \(text): expected a name before and behind each .")
        }
        var owners = [entity] + kinds, lastMany: Int?
        for (index, name) in names.enumerated() {
            let owner = owners[0], found = owners.lazy.compactMap { catalog.relationship(name, of: $0) }.first
            if index == names.count - 1 {
                guard hasField(name, owners) else { throw unknown(name, owner) }
                // A stored list is one value, unless the path leads to several of them.
                if let found, found.isToMany, !found.isStored || lastMany != nil { lastMany = index }
                break
            }
            guard let found, let destination = catalog.entity(id: found.destination) else {
                guard hasField(name, owners) else { throw unknown(name, owner) }
                throw Failure(
                    .usage,
                    "--fields \(text): \(owner.name).\(name) is an attribute, and has no fields; expected a "
                        + "relationship, or no \".\" after it")
            }
            if found.isToMany { lastMany = index }
            owners =
                [destination]
                + catalog.entities.filter { $0.id != destination.id && catalog.isKind($0.id, of: destination.id) }
        }
        return .path(RecordPath(names, lastMany: lastMany))
    }

    private func hasField(_ name: String, _ owners: [Catalog.Entity]) -> Bool {
        owners.contains { $0.field(name) != nil || catalog.relationship(name, of: $0) != nil }
    }

    private func unknown(_ name: String, _ owner: Catalog.Entity) -> StoreError {
        // Stored relationships are fields as well.
        let fields = owner.fields.map(\.name)
        let others = catalog.relationships(of: owner).map(\.name).filter { !fields.contains($0) }
        return .unknownField(entity: owner.name, name: name, known: fields + others)
    }

    /// Every attribute and stored relationship, those of kinds last.
    private var allColumns: [RecordColumn] {
        var names = entity.fields.map(\.name)
        for kind in kinds {
            for field in kind.fields where !names.contains(field.name) { names.append(field.name) }
        }
        return (kinds.isEmpty ? [] : [.kind])
            + names.map { included.contains($0) ? .included($0) : .field($0) }
    }

    private var shortColumns: [RecordColumn] {
        let keys = entity.key.compactMap { entity.field(id: $0)?.name }
        let short = entity.fields.filter { field in
            guard !keys.contains(field.name), case .attribute(let type) = field.kind else { return false }
            return type.isShort && !["body", "description", "text", "content"].contains(field.name)
        }
        return keys.map(RecordColumn.field) + (kinds.isEmpty ? [] : [.kind])
            + short.prefix(5).map { .field($0.name) }
    }

    /// The fields that the columns do not show, if no fields are named.
    var hidden: [String] {
        guard chosen == nil, style.format.isForPeople else { return [] }
        let shown = Set(columns.map(\.name))
        return allColumns.map(\.name).filter { !shown.contains($0) }
    }

    /// A line about the hidden columns; nil without any.
    var hiddenLine: String? {
        let hidden = hidden
        guard !hidden.isEmpty else { return nil }
        let names = hidden.prefix(8).joined(separator: ", ") + (hidden.count > 8 ? ", …" : "")
        return "\(countText(hidden.count, "hidden column")): \(names) (--fields all shows all)"
    }

    /// The titles of the columns, and the writer of their rows.
    func writer(isSingle: Bool = false) -> RowWriter {
        let columns = columns
        let numbers = columns.indices.filter { index in
            guard case .field(let name) = columns[index], case .attribute(let type)? = entity.field(name)?.kind else {
                return false
            }
            return type.isNumber && !entity.key.contains(entity.field(name)?.id ?? 0)
        }
        return RowWriter(
            columns.map { style.format.isForPeople ? $0.title : $0.name }, style, rightAligned: Set(numbers),
            isSingle: isSingle)
    }

    // MARK: Rows

    /// The members of rows that are JSON objects of stored fields and of targets, which the store
    /// writes itself; nil for other rows.
    var shape: JSONShape? {
        guard style.format == .json || style.format == .ndjson, !style.isLocal else { return nil }
        guard let chosen else { return JSONShape(kindName: kindName, included: included) }
        var fields: [String] = []
        for column in chosen {
            guard case .field(let name) = column, entity.field(name) != nil else { return nil }
            fields.append(name)
        }
        return JSONShape(fields: fields, included: included)
    }

    /// The fields of a record that its row shows; nil for all.
    var shownFields: [String]? {
        guard chosen != nil || style.format.isForPeople && !style.format.isObjects else { return nil }
        return columns.compactMap { if case .field(let name) = $0 { name } else { nil } }
    }

    /// The member of an object with the kind of its record; nil if all are of one.
    var kindName: String? { kinds.isEmpty ? nil : RecordColumn.kindName }

    func write(_ record: Record, to writer: inout RowWriter, _ reader: borrowing StoreReader) throws {
        if style.format.isObjects {
            let members = try members(record, reader)
            writer.add(members: members, cells: [])
        } else {
            let cells = try cells(record, reader)
            writer.add(members: [], cells: cells)
        }
    }

    /// The fields of a record by name: all that it has, or the named ones.
    func members(_ record: Record, _ reader: borrowing StoreReader) throws -> [RowWriter.Member] {
        var members: [RowWriter.Member] = []
        if let chosen {
            for column in chosen {
                let value = try column.value(of: record, self, reader)
                if !value.isAbsent { members.append((column.name, value)) }
            }
        } else {
            if let kindName { members.append((kindName, .text(record.entity))) }
            for field in record.fields where !included.contains(field.name) {
                members.append((field.name, .value(field.value)))
            }
        }
        for name in included where !members.contains(where: { $0.name == name }) {
            members.append((name, try included(name, of: record, reader)))
        }
        return members
    }

    func cells(_ record: Record, _ reader: borrowing StoreReader) throws -> [OutputValue] {
        var cells: [OutputValue] = []
        cells.reserveCapacity(columns.count)
        var next = 0
        for (index, column) in columns.enumerated() {
            if case .field(let name) = column, labelled[index] == nil, let value = record.value(name, next: &next) {
                cells.append(.value(value))
                continue
            }
            guard let name = labelled[index] else {
                cells.append(try column.value(of: record, self, reader))
                continue
            }
            var labels: [String] = []
            let most = style.format == .table ? RecordPrinter.mostLabels : .max
            try reader.forEachRelated(entity.name, record.key, name, only: RecordPrinter.labels) { target in
                labels.append(labels.count < most ? RecordPrinter.label(target) : "…")
                return labels.count <= most
            }
            cells.append(.text(labels.joined(separator: ", ")))
        }
        return cells
    }

    /// Returns the cells of a target that is not in the store: for people its label, else the parts
    /// of its key in their columns.
    func cells(missing target: StoreReader.Target) -> [OutputValue] {
        guard !style.format.isForPeople else {
            return columns.indices.map { $0 == 0 ? .text(RecordPrinter.label(target)) : .absent }
        }
        guard let key = target.key else { return columns.map { _ in .absent } }
        var values: [UInt16: Value] = [:]
        if !key.isDigest {
            values = entity.keyValues(key)
        } else if let first = entity.key.first {
            values[first] = .reference(key)
        }
        return columns.map { column in
            guard case .field(let name) = column, let field = entity.field(name) else { return .absent }
            return values[field.id].map(OutputValue.value) ?? .absent
        }
    }

    /// The relationship whose targets a column shows by their names; nil for other columns.
    private func relationshipToLabel(_ column: RecordColumn) -> String? {
        switch column {
        case .included(let name): name
        case .field(let name) where entity.field(name) == nil && catalog.relationship(name, of: entity) != nil: name
        default: nil
        }
    }

    /// Included relationships are objects or lists of objects; a missing target is its key.
    func included(_ name: String, of record: Record, _ reader: borrowing StoreReader) throws -> OutputValue {
        let isToMany = catalog.relationship(name, of: entity)?.isToMany ?? false
        var items: [String] = [], missing: RecordKey?
        try reader.forEachRelated(entity.name, record.key, name) { target in
            if target.record == nil { missing = target.key }
            items.append(json(target))
            return true
        }
        if isToMany { return .json("[" + items.joined(separator: ",") + "]") }
        // As without `--include`: in a cell, null is empty and a key has no quotes.
        if let missing { return .value(.reference(missing)) }
        return items.first.map(OutputValue.json) ?? .value(.null)
    }

    private func json(_ target: StoreReader.Target) -> String {
        guard let record = target.record else { return RecordPrinter.keyJSON(target) }
        var text = "{"
        for (index, field) in record.fields.enumerated() {
            if index > 0 { text += "," }
            text.appendJSONString(field.name)
            text += ":" + OutputValue.value(field.value).json(style)
        }
        return text + "}"
    }

    /// The key of a target as JSON.
    static func keyJSON(_ target: StoreReader.Target) -> String {
        var text = ""
        if let key = target.key { key.appendJSON(to: &text) } else { text = "null" }
        return text
    }

    /// The most targets of a to-many relationship in a cell of a table.
    private static let mostLabels = 6

    /// The fields that name a record, the best first.
    private static let labels = ["login", "name", "username", "title", "label", "slug"]

    /// Returns a short label of a record: its name, else its key.
    static func label(_ target: StoreReader.Target) -> String {
        guard let record = target.record else { return "\(target.key?.description ?? "?") (missing)" }
        for name in labels {
            if case .string(let text)? = record[name], !text.isEmpty { return text }
        }
        return record.key.description
    }
}

extension AttributeType {
    /// Whether a table aligns the values at the right.
    fileprivate var isNumber: Bool {
        switch self {
        case .int, .uint, .double, .decimal: true
        default: false
        }
    }
}

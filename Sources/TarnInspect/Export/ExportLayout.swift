// The tables of an export: how entities, fields and relationships become tables and columns.

import TarnStore

/// The tables and columns that a catalog becomes outside of a store.
struct ExportLayout {
    /// A column with the type that SQLite knows; an empty type keeps values as they are.
    struct Column {
        var name: String
        var type: String
    }

    /// The columns of a field, or a list in a table of its own.
    enum Place {
        case columns(Range<Int>)
        case join(Int)
    }

    /// The table of a root entity, with the records of its descendants.
    struct RecordTable {
        var name: String
        var root: Catalog.Entity
        var columns: [Column] = []
        /// The columns of the primary key.
        var keys: [Int] = []
        /// The places of the fields, by concrete entity and name.
        var places: [String: [String: Place]] = [:]
        /// The ids of the fields with the places, for indexes and foreign keys.
        var fields: [(field: Catalog.Field, place: Place)] = []
        /// The column with the name of the concrete entity; nil if there is only one.
        var entityColumn: Int?
        var partialColumn = 0
        var versionColumn = 0
    }

    /// The table of a to-many relationship: owner, position, target.
    struct JoinTable {
        var name: String
        var owner: Range<Int>
        var position: Int
        var target: Range<Int>
        var columns: [Column]
        /// The table of the owner, and the root entity of the targets.
        var ownerTable: Int
        var destination: UInt16
    }

    let catalog: Catalog
    private(set) var tables: [RecordTable] = []
    private(set) var joins: [JoinTable] = []

    init(_ catalog: Catalog) {
        self.catalog = catalog
        var names = UniqueNames()
        let roots = catalog.entities.filter { $0.root == $0.id }
        for root in roots { tables.append(RecordTable(name: names.name(root.name), root: root)) }
        for number in tables.indices { addColumns(to: number, &names) }
    }

    /// Returns the table of an entity's tree.
    func table(of entity: UInt16) -> RecordTable? {
        catalog.entity(id: entity).flatMap { entity in tables.first { $0.root.id == entity.root } }
    }

    private mutating func addColumns(to number: Int, _ tableNames: inout UniqueNames) {
        let root = tables[number].root, tree = catalog.entities.filter { $0.root == root.id }
        var columns: [Column] = [], names = UniqueNames(), seen: [UInt16: Place] = [:]
        func add(_ wanted: [Column]) -> Range<Int> {
            let start = columns.count
            columns += wanted.map { Column(name: names.name($0.name), type: $0.type) }
            return start..<columns.count
        }
        for id in root.key {
            guard let field = root.field(id: id) else { continue }
            let place = add(fieldColumns(field))
            seen[id] = .columns(place)
            tables[number].keys += Array(place)
            tables[number].fields.append((field, .columns(place)))
        }
        for entity in tree {
            for field in entity.fields where seen[field.id] == nil {
                var place = Place.join(joins.count)
                if case .reference(let reference) = field.kind, reference.isToMany {
                    joins.append(join(field, reference, of: number, &tableNames))
                } else {
                    place = .columns(add(fieldColumns(field)))
                }
                seen[field.id] = place
                tables[number].fields.append((field, place))
            }
            tables[number].places[entity.name] = Dictionary(
                entity.fields.compactMap { field in seen[field.id].map { (field.name, $0) } }
            ) { first, _ in first }
        }
        if tree.count > 1 { tables[number].entityColumn = add([Column(name: "_entity", type: "TEXT")]).lowerBound }
        tables[number].partialColumn = add([Column(name: "_partial", type: "INTEGER")]).lowerBound
        tables[number].versionColumn = add([Column(name: "_version", type: "INTEGER")]).lowerBound
        tables[number].columns = columns
    }

    private func join(
        _ field: Catalog.Field, _ reference: Catalog.Reference, of number: Int, _ names: inout UniqueNames
    ) -> JoinTable {
        let owner = keyColumns(of: tables[number].root, named: "owner")
        let target = catalog.entity(id: reference.destination).map { keyColumns(of: $0, named: "target") } ?? []
        // A field of the key may have the name that a component of another one gets.
        var columnNames = UniqueNames()
        let columns = (owner + [Column(name: "position", type: "INTEGER")] + target).map { column in
            Column(name: columnNames.name(column.name), type: column.type)
        }
        return JoinTable(
            name: names.name("\(tables[number].name)_\(field.name)"), owner: 0..<owner.count, position: owner.count,
            target: owner.count + 1..<owner.count + 1 + target.count, columns: columns, ownerTable: number,
            destination: reference.destination)
    }

    // MARK: - Columns

    private func fieldColumns(_ field: Catalog.Field) -> [Column] {
        switch field.kind {
        case .attribute(let type): [Column(name: field.name, type: ExportLayout.type(type))]
        case .reference(let reference):
            catalog.entity(id: reference.destination).map { keyColumns(of: $0, named: field.name) } ?? []
        }
    }

    /// Returns the columns of a reference to an entity: one, or one for each component of its key.
    private func keyColumns(of entity: Catalog.Entity, named name: String) -> [Column] {
        guard entity.keyTypes.count != 1 else {
            return [Column(name: name, type: ExportLayout.type(entity.keyTypes[0]))]
        }
        let parts = componentNames(of: entity, depth: 0)
        return entity.keyTypes.indices.map { index in
            let part = index < parts.count ? parts[index] : "\(index)"
            return Column(name: "\(name)_\(part)", type: ExportLayout.type(entity.keyTypes[index]))
        }
    }

    private func componentNames(of entity: Catalog.Entity, depth: Int) -> [String] {
        entity.key.flatMap { id -> [String] in
            guard let field = entity.field(id: id) else { return ["\(id)"] }
            // A damaged catalog may have a cycle.
            guard case .reference(let reference) = field.kind, depth < 16,
                let owner = catalog.entity(id: reference.destination)
            else { return [field.name] }
            let names = componentNames(of: owner, depth: depth + 1)
            return names.count == 1 ? [field.name] : names.map { "\(field.name)_\($0)" }
        }
    }

    /// The declared type. Its affinity must not change a value: a text in a numeric column would
    /// become a double.
    private static func type(_ type: AttributeType) -> String {
        switch type {
        case .bool, .int: "INTEGER"
        case .double: "REAL"
        case .bytes: "BLOB"
        case .uint: ""
        case .decimal, .string, .date, .uuid, .url, .json, .enumeration, .array: "TEXT"
        }
    }
}

/// Names that stay distinct where case does not matter, as in SQLite and in some file systems.
struct UniqueNames {
    private var taken: Set<String> = []

    /// Returns the name, with a number behind it if it is taken.
    ///
    /// SQLite reserves names that begin with `sqlite_`; they get an underscore before them.
    mutating func name(_ wanted: String) -> String {
        let wanted = wanted.lowercased().hasPrefix("sqlite_") ? "_" + wanted : wanted
        var name = wanted, number = 2
        while !taken.insert(name.lowercased()).inserted {
            name = "\(wanted)_\(number)"
            number += 1
        }
        return name
    }

    /// Returns the name as ``name(_:)`` does, where the names with each of the endings behind it
    /// are free, too, and takes them all.
    mutating func name(_ wanted: String, endings: [String], isUsable: (String) -> Bool) -> String {
        var name = wanted, number = 2
        func names() -> [String] { ([""] + endings).map { (name + $0).lowercased() } }
        while !taken.isDisjoint(with: names()) || !isUsable(name) {
            name = "\(wanted)_\(number)"
            number += 1
        }
        taken.formUnion(names())
        return name
    }
}

// The schema of the model test: every type, key, relationship, delete rule and index in one.

import TarnStore

/// A stored relationship as the model knows it; the schema's declarations of both sides are made
/// from it.
struct ModelRelation: Sendable {
    var owner: String, field: String, to: String
    var many = false, ordered = false
    var inverse: String
    var inverseMany = true, inverseOrdered = false
    var rule = RelationshipDefinition.DeleteRule.none
    var inverseRule = RelationshipDefinition.DeleteRule.none
}

/// A relationship that is joined by attributes.
struct ModelJoin: Sendable {
    var owner: String, name: String, to: String
    var own: String, theirs: String
    var many = false
    var inverse: String?
    var inverseRule = RelationshipDefinition.DeleteRule.none
}

enum ModelSchema {
    static let relations = [
        ModelRelation(
            owner: "Thing", field: "labels", to: "Label", many: true, ordered: true, inverse: "things",
            inverseRule: .nullify),
        ModelRelation(owner: "Thing", field: "watchers", to: "Label", many: true, inverse: "watched"),
        ModelRelation(
            owner: "Thing", field: "board", to: "Board", inverse: "cards", inverseOrdered: true, inverseRule: .nullify),
        ModelRelation(owner: "Thing", field: "duplicateOf", to: "Thing", inverse: "duplicates", inverseRule: .nullify),
        ModelRelation(owner: "Thing", field: "next", to: "Thing", inverse: "previous", rule: .cascade),
        ModelRelation(owner: "Thing", field: "twin", to: "Thing", inverse: "twinOf", inverseMany: false),
        ModelRelation(owner: "Event", field: "actor", to: "Thing", inverse: "events", inverseRule: .cascade),
        ModelRelation(
            owner: "Push", field: "commits", to: "Label", many: true, inverse: "pushes", inverseRule: .nullify),
        ModelRelation(owner: "ForcePush", field: "base", to: "Push", inverse: "rebased", inverseRule: .cascade),
        ModelRelation(owner: "Release", field: "of", to: "Event", inverse: "releases", inverseRule: .deny),
        ModelRelation(
            owner: "Child", field: "parent", to: "Parent", inverse: "children", inverseOrdered: true,
            inverseRule: .cascade),
        ModelRelation(owner: "Toy", field: "child", to: "Child", inverse: "toys", inverseRule: .cascade),
        ModelRelation(owner: "Device", field: "holds", to: "Board", inverse: "holders", inverseRule: .deny),
        ModelRelation(owner: "Device", field: "toys", to: "Toy", many: true, inverse: "devices", rule: .cascade),
    ]

    static let joins = [
        ModelJoin(
            owner: "Device", name: "user", to: "Thing", own: "userLogin", theirs: "login", inverse: "devices",
            inverseRule: .deny),
        ModelJoin(owner: "Device", name: "mates", to: "Device", own: "group", theirs: "group", many: true),
    ]

    static let schema = Schema([
        entity(
            "Thing", key: ["id"],
            [
                AttributeDefinition("id", .int), AttributeDefinition("title", .string, indexed: true),
                AttributeDefinition("state", .enumeration(["open", "closed", "lost"]), default: .string("open")),
                AttributeDefinition("level", .int, indexed: true, default: .int(3)),
                AttributeDefinition("login", .string, optional: true, unique: true),
                AttributeDefinition("flag", .bool, optional: true, indexed: true),
                AttributeDefinition("count", .int, optional: true, indexed: true),
                AttributeDefinition("big", .uint, optional: true, indexed: true),
                AttributeDefinition("ratio", .double, optional: true, indexed: true),
                AttributeDefinition("price", .decimal, optional: true, indexed: true),
                AttributeDefinition("blob", .bytes, optional: true, indexed: true),
                AttributeDefinition("at", .date, optional: true, indexed: true),
                AttributeDefinition("token", .uuid, optional: true, unique: true),
                AttributeDefinition("home", .url, optional: true, indexed: true),
                AttributeDefinition("extra", .json, optional: true),
                AttributeDefinition("tags", .array(.string), optional: true),
                AttributeDefinition("scores", .array(.double), optional: true),
            ],
            [
                IndexDefinition("stateTitle", on: "state", "title"),
                IndexDefinition("boardCount", on: "board", "count"),
                IndexDefinition("pair", on: "count", "big", unique: true),
                IndexDefinition("openAt", on: "at", where: [IndexCondition("state", .equal, .string("open"))]),
                IndexDefinition(
                    "high", on: "title",
                    where: [IndexCondition("level", .greaterOrEqual, .int(2)), IndexCondition("at", .notEqual, .null)]),
                IndexDefinition("folded", on: [IndexDefinition.Component("title", ignoringCase: true), "flag"]),
            ]),
        entity(
            "Board", key: ["owner", "name"],
            [
                AttributeDefinition("owner", .string, indexed: true), AttributeDefinition("name", .string),
                AttributeDefinition("title", .string, optional: true),
            ]),
        entity(
            "ForcePush", parent: "Push",
            [
                AttributeDefinition("before", .string, optional: true, indexed: true),
                AttributeDefinition("forced", .bool, default: .bool(true)),
            ]),
        entity(
            "Push", parent: "Event", [AttributeDefinition("branch", .string)],
            [IndexDefinition("byBranch", on: "branch", "at"), IndexDefinition("byActor", on: "actor", "branch")]),
        entity(
            "Event", key: ["id"],
            [
                AttributeDefinition("id", .int), AttributeDefinition("at", .int, optional: true, indexed: true),
                AttributeDefinition("text", .string, optional: true),
            ]),
        entity("Release", parent: "Event", [AttributeDefinition("tag", .string, optional: true, unique: true)]),
        entity(
            "Parent", key: ["name"],
            [AttributeDefinition("name", .string), AttributeDefinition("title", .string, optional: true)]),
        entity(
            "Child", key: ["parent", "number"],
            [
                AttributeDefinition("number", .int), AttributeDefinition("slot", .int, optional: true),
                AttributeDefinition("active", .bool, default: .bool(false)), AttributeDefinition("title", .string),
            ],
            [
                IndexDefinition(
                    "place", on: "parent", "slot", unique: true, where: [IndexCondition("active", .equal, .bool(true))])
            ]),
        entity(
            "Toy", key: ["child", "id"],
            [AttributeDefinition("id", .uuid), AttributeDefinition("title", .string, optional: true, indexed: true)],
            compression: .none),
        entity(
            "Device", key: ["id"],
            [
                AttributeDefinition("id", .uuid),
                AttributeDefinition("userLogin", .string, optional: true, indexed: true),
                AttributeDefinition("group", .string, optional: true, indexed: true),
                AttributeDefinition("serial", .double, optional: true, unique: true),
            ]),
        // Behind the other end of its unordered lists: the side that is declared first is the one
        // that is stored.
        entity(
            "Label", key: ["name"],
            [
                AttributeDefinition("name", .string), AttributeDefinition("note", .bytes, optional: true),
                AttributeDefinition("display", .string, optional: true),
            ],
            [IndexDefinition("sole", on: [IndexDefinition.Component("display", ignoringCase: true)], unique: true)],
            compression: .none),
    ])

    private static func entity(
        _ name: String, parent: String? = nil, key: [String] = [], _ attributes: [AttributeDefinition],
        _ indexes: [IndexDefinition] = [], compression: EntityDefinition.Compression = .zstd
    ) -> EntityDefinition {
        var relationships: [RelationshipDefinition] = []
        for x in relations where x.owner == name {
            relationships.append(
                RelationshipDefinition(
                    x.field, to: x.to, many: x.many, ordered: x.ordered, inverse: x.inverse, onDelete: x.rule))
        }
        // A plain inverse need not be declared.
        for x in relations where x.to == name && (x.inverseRule != .none || x.inverseOrdered || !x.inverseMany) {
            relationships.append(
                RelationshipDefinition(
                    x.inverse, to: x.owner, many: x.inverseMany, ordered: x.inverseOrdered, inverse: x.field,
                    onDelete: x.inverseRule))
        }
        for x in joins where x.owner == name {
            relationships.append(
                RelationshipDefinition(
                    x.name, to: x.to, many: x.many, inverse: x.inverse, joinedBy: .init(x.own, equals: x.theirs)))
        }
        for x in joins where x.to == name {
            guard let inverse = x.inverse else { continue }
            relationships.append(
                RelationshipDefinition(
                    inverse, to: x.owner, many: true, inverse: x.name, onDelete: x.inverseRule,
                    joinedBy: .init(x.theirs, equals: x.own)))
        }
        return EntityDefinition(
            name, parent: parent, key: key, attributes: attributes, relationships: relationships, indexes: indexes,
            compression: compression)
    }
}

// MARK: Structs

/// Names the required attributes, so that a record that is stored as one is complete.
struct ModelThing: StoredRecord {
    static let entity = "Thing"
    typealias Key = Int64
    enum Field: Int, RecordField { case id, title, labels, state, level, flag, at, board, price, tags }
    var id: Int64
    var cells: [String: Cell] = [:]

    init(_ id: Int64, _ cells: [String: Cell]) {
        self.id = id
        self.cells = cells
    }

    init(_ row: Row<ModelThing>) throws(StoreError) {
        id = try row.get(.id)
        func take(_ name: Field, _ value: Value?) { cells[name.name] = .value(value ?? .null) }
        take(.title, try row.get(.title, as: String?.self).map(Value.string))
        take(.level, try row.get(.level, as: Int64?.self).map(Value.int))
        take(.flag, try row.get(.flag, as: Bool?.self).map(Value.bool))
        take(.at, try row.get(.at, as: Timestamp?.self).map(Value.date))
        take(.price, try row.get(.price, as: ExactDecimal?.self).map(Value.decimal))
        take(.tags, try row.get(.tags, as: [String]?.self).map { .array($0.map(Value.string)) })
    }

    /// The form that `init(_:)` reads.
    static let read: [Field] = [.title, .level, .flag, .at, .price, .tags]

    func encode(into row: inout RowEncoder<ModelThing>) {
        row.set(.id, id)
        for field in Field.allCases where field != .id { ModelThing.set(field, cells[field.name], &row) }
    }

    static func set(_ field: Field, _ cell: Cell?, _ row: inout RowEncoder<ModelThing>) {
        switch (field, cell) {
        case (.labels, .references(let keys, _)?):
            row.set(.labels, References<ModelLabel>(keys.map { ModelKeys.string("Label", $0) }))
        case (.board, .references(let keys, _)?):
            row.set(.board, Reference<ModelBoard>(ModelKeys.keys("Board")[keys[0]]))
        case (_, .value(.string(let x))?): row.set(field, x)
        case (_, .value(.int(let x))?): row.set(field, x)
        case (_, .value(.bool(let x))?): row.set(field, x)
        case (_, .value(.date(let x))?): row.set(field, x)
        case (_, .value(.decimal(let x))?): row.set(field, x)
        case (_, .value(.array(let x))?):
            row.set(field, x.compactMap { if case .string(let text) = $0 { text } else { nil } })
        // A required field cannot be cleared, but another program may have stored a null.
        default: row.set(field, String?.none)
        }
    }
}

struct ModelLabel: StoredRecord {
    static let entity = "Label"
    typealias Key = String
    enum Field: Int, RecordField { case name }
    var name: String
    init(_ row: Row<ModelLabel>) throws(StoreError) { name = try row.get(.name) }
    func encode(into row: inout RowEncoder<ModelLabel>) { row.set(.name, name) }
}

struct ModelBoard: StoredRecord {
    static let entity = "Board"
    typealias Key = RecordKey
    enum Field: Int, RecordField { case owner, name }
    var owner: String
    var name: String
    init(_ row: Row<ModelBoard>) throws(StoreError) {
        owner = try row.get(.owner)
        name = try row.get(.name)
    }
    func encode(into row: inout RowEncoder<ModelBoard>) {
        row.set(.owner, owner)
        row.set(.name, name)
    }
}

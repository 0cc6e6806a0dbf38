// Every kind of schema change and its effect on a store with records: the table of the article
// "Schema evolution".

import Testing

@testable import TarnStore

struct SchemaChange: Sendable, CustomTestStringConvertible {
    enum Outcome: Sendable, Equatable {
        /// Nothing but the catalog changes.
        case inline
        /// An index is built, or checked, in steps.
        case build
        /// With these words.
        case refused(String)
    }

    /// As in the first column of the article's table.
    var change: String
    var outcome: Outcome
    var before: Schema
    var after: Schema

    var testDescription: String { change }

    /// `Item` and `Person`, with parts replaced or added.
    static func schema(
        key: [String] = ["id"], _ attributes: [AttributeDefinition] = [],
        _ relationships: [RelationshipDefinition] = [],
        _ indexes: [IndexDefinition] = [], person: EntityDefinition? = nil, others: [EntityDefinition] = [],
        name: String = "Item",
        was: String? = nil, compression: EntityDefinition.Compression = .zstd
    ) -> Schema {
        var own: [AttributeDefinition] = [
            .init("id", .int), .init("title", .string),
            .init("state", .enumeration(["open", "closed"]), optional: true),
            .init("votes", .int, optional: true), .init("owner", .string, optional: true, indexed: true),
        ]
        own.removeAll { attribute in
            attributes.contains { ($0.renamedFrom ?? $0.name) == attribute.name || $0.name == attribute.name }
        }
        let plain = EntityDefinition(
            "Person", key: ["login"], attributes: [.init("login", .string)])
        return Schema(
            [
                EntityDefinition(
                    name, key: key, attributes: own + attributes, relationships: relationships, indexes: indexes,
                    compression: compression, renamedFrom: was), person ?? plain,
            ] + others)
    }

    private static func person(_ relationships: RelationshipDefinition...) -> EntityDefinition {
        EntityDefinition("Person", key: ["login"], attributes: [.init("login", .string)], relationships: relationships)
    }

    private static let tag = EntityDefinition("Tag", key: ["name"], attributes: [.init("name", .string)])

    private init(_ change: String, _ outcome: Outcome, _ before: Schema = schema(), to after: Schema) {
        (self.change, self.outcome, self.before, self.after) = (change, outcome, before, after)
    }

    private static func type(_ change: String, _ old: AttributeType, _ new: AttributeType, _ outcome: Outcome)
        -> SchemaChange
    {
        SchemaChange(
            change, outcome, schema([.init("x", old, optional: true)]), to: schema([.init("x", new, optional: true)]))
    }

    private static func refusedType(_ change: String, _ old: AttributeType, _ new: AttributeType) -> SchemaChange {
        type(
            change, old, new,
            .refused(
                "Item.x: the type changed from \(old) to \(new), but records have values of the old type; use another name"
            ))
    }

    private static let author = RelationshipDefinition("author", to: "Person", inverse: "items")
    private static let tags = RelationshipDefinition("tags", to: "Tag", many: true, inverse: "items")
    private static let joined = RelationshipDefinition(
        "keeper", to: "Person", joinedBy: .init("owner", equals: "login"))

    static let entities: [SchemaChange] = [
        .init("entity added", .inline, to: schema(others: [tag])),
        .init("entity left out of the schema", .inline, schema(others: [tag]), to: schema()),
        .init("entity renamed (`renamedFrom`)", .inline, to: schema(name: "Ticket", was: "Item")),
        .init(
            "entity renamed, and the store has both names",
            .refused("Ticket: cannot rename it from Item: the store has entities of both names"),
            schema(others: [.init("Ticket", key: ["id"], attributes: [.init("id", .int)])]),
            to: schema(name: "Ticket", was: "Item")),
        .init(
            "entity named as one was before it was renamed",
            .refused("Item: another program has renamed it to Ticket; use that name"),
            schema(name: "Ticket", was: "Item"), to: schema()),
        .init(
            "kind added (an entity with a parent)", .inline,
            to: schema(others: [.init("Bug", parent: "Item", attributes: [])])),
        .init(
            "parent changed",
            .refused(
                "Tag: the parent changed from none to Item, but records are stored in the old table; keep the parent"),
            schema(others: [tag]), to: schema(others: [.init("Tag", parent: "Item", attributes: [])])),
        .init(
            "key changed", .refused("Item: records are stored under the key (id); keep the key"),
            to: schema(key: ["title"])),
        .init("compression changed", .inline, to: schema(compression: .none)),
    ]

    static let attributes: [SchemaChange] = [
        .init("attribute added, optional", .inline, to: schema([.init("x", .date, optional: true)])),
        .init("attribute added, required, with a default", .inline, to: schema([.init("x", .int, default: .int(3))])),
        .init("attribute added, required, without a default", .inline, to: schema([.init("x", .int)])),
        .init("attribute added, indexed", .build, to: schema([.init("x", .int, optional: true, indexed: true)])),
        .init("attribute left out of the schema", .inline, schema([.init("x", .int, optional: true)]), to: schema()),
        .init(
            "attribute renamed (`renamedFrom`)", .inline, to: schema([.init("headline", .string, renamedFrom: "title")])
        ),
        .init(
            "attribute renamed, and the store has both names",
            .refused("Item.headline: cannot rename it from title: the store has fields of both names"),
            schema([.init("headline", .string, optional: true)]),
            to: schema([.init("headline", .string, renamedFrom: "title")])),
        .init(
            "attribute named as one was before it was renamed",
            .refused("Item.title: another program has renamed it to headline; use that name"),
            schema([.init("headline", .string, renamedFrom: "title")]), to: schema()),
        type("type: `enum` to `string`", .enumeration(["a"]), .string, .inline),
        type("type: list of `enum` to list of `string`", .array(.enumeration(["a"])), .array(.string), .inline),
        refusedType("type: `string` to `enum`", .string, .enumeration(["a"])),
        refusedType("type: `int` to `double`, `decimal`, `uint` or `string`", .int, .double),
        refusedType("type: `double` to `decimal`", .double, .decimal),
        refusedType("type: `string` to `url`, `uuid`, `date` or back", .string, .url),
        refusedType("type: anything to `json`, or back", .array(.int), .json),
        refusedType("type: one value to a list, or back", .int, .array(.int)),
        .init(
            "required to optional", .inline, schema([.init("x", .int)]), to: schema([.init("x", .int, optional: true)])),
        .init(
            "optional to required", .inline, schema([.init("x", .int, optional: true)]), to: schema([.init("x", .int)])),
        type("enumeration value added", .enumeration(["a"]), .enumeration(["a", "b"]), .inline),
        type("enumeration value removed", .enumeration(["a", "b"]), .enumeration(["b"]), .inline),
        .init(
            "default added, changed or removed", .inline,
            to: schema([.init("votes", .int, optional: true, default: .int(0))])),
        .init("attribute indexed", .build, to: schema([.init("votes", .int, optional: true, indexed: true)])),
        .init(
            "attribute no longer indexed", .inline, schema([.init("votes", .int, optional: true, indexed: true)]),
            to: schema()),
        .init("attribute unique", .build, to: schema([.init("title", .string, unique: true)])),
        .init(
            "attribute unique, and records have the same value",
            .refused("have the same votes, which must be unique"),
            to: schema([.init("votes", .int, optional: true, unique: true)])),
        .init(
            "indexed attribute unique", .build, schema([.init("title", .string, indexed: true)]),
            to: schema([.init("title", .string, unique: true)])),
        .init(
            "attribute no longer unique", .inline, schema([.init("title", .string, unique: true)]),
            to: schema([.init("title", .string, indexed: true)])),
        .init(
            "attribute to relationship",
            .refused("Item.x: the destination, the arity or the order of the inverse changed"),
            schema([.init("x", .string, optional: true)]), to: schema([], [.init("x", to: "Person")])),
        .init(
            "relationship to attribute", .refused("Item.x: the type changed from a relationship to string"),
            schema([], [.init("x", to: "Person")]), to: schema([.init("x", .string, optional: true)])),
    ]

    static let relationships: [SchemaChange] = [
        .init("relationship added", .inline, to: schema([], [author])),
        .init("relationship left out of the schema", .inline, schema([], [author]), to: schema()),
        .init(
            "relationship renamed (`renamedFrom`)", .inline, schema([], [author]),
            to: schema([], [.init("writer", to: "Person", inverse: "items", renamedFrom: "author")])),
        .init(
            "destination changed",
            .refused(
                "Item.author: the destination, the arity or the order of the inverse changed, but records have the old references; use another name"
            ),
            schema([], [author], others: [tag]),
            to: schema([], [.init("author", to: "Tag", inverse: "items")], others: [tag])),
        .init(
            "to-one to to-many, or back", .refused("Item.author: the destination, the arity"),
            schema([], [author]), to: schema([], [.init("author", to: "Person", many: true, inverse: "items")])),
        .init(
            "to-many ordered, or not", .inline, schema([], [tags], others: [tag]),
            to: schema([], [.init("tags", to: "Tag", many: true, ordered: true, inverse: "items")], others: [tag])),
        .init(
            "inverse added, renamed or removed", .inline, schema([], [author]),
            to: schema([], [.init("author", to: "Person", inverse: "written")])),
        .init(
            "inverse ordered, or not",
            .refused("Item.author: the destination, the arity or the order of the inverse changed"),
            schema([], [author]),
            to: schema(
                [], [author], person: person(.init("items", to: "Item", many: true, ordered: true, inverse: "author")))),
        .init(
            "stored at the other side",
            .refused(
                "Item.author: the relationship is stored as Person.items, and would move here; keep it on that side"),
            schema(person: person(.init("items", to: "Item", many: true, inverse: "author"))),
            to: schema([], [author], person: person(.init("items", to: "Item", many: true, inverse: "author")))),
        .init(
            "delete rule changed", .inline, schema([], [author]),
            to: schema([], [.init("author", to: "Person", inverse: "items", onDelete: .deny)])),
        .init("joined relationship added, changed, renamed or left out", .inline, to: schema([], [joined])),
        .init("joined to stored", .inline, schema([], [joined]), to: schema([], [.init("keeper", to: "Person")])),
        .init(
            "stored to joined",
            .refused("Item.keeper: the stored relationship would become a join by owner; use another name"),
            schema([], [.init("keeper", to: "Person")]), to: schema([], [joined])),
    ]

    static let indexes: [SchemaChange] = [
        .init("index added", .build, to: schema([], [], [.init("x", on: "state", "votes")])),
        .init("index left out of the schema", .inline, schema([], [], [.init("x", on: "state")]), to: schema()),
        .init(
            "index renamed (`renamedFrom`)", .inline, schema([], [], [.init("x", on: "state")]),
            to: schema([], [], [.init("y", on: "state", renamedFrom: "x")])),
        .init(
            "attributes of an index changed", .build, schema([], [], [.init("x", on: "state", "votes")]),
            to: schema([], [], [.init("x", on: "votes", "state")])),
        .init(
            "conditions or case of an index changed", .build,
            schema([], [], [.init("x", on: "title", where: [.init("votes", .less, .int(3))])]),
            to: schema([], [], [.init("x", on: "title", where: [.init("votes", .less, .int(4))])])),
        .init(
            "index unique", .build, schema([], [], [.init("x", on: "title")]),
            to: schema([], [], [.init("x", on: "title", unique: true)])),
        .init(
            "index no longer unique", .inline, schema([], [], [.init("x", on: "title", unique: true)]),
            to: schema([], [], [.init("x", on: "title")])),
    ]

    static let all = entities + attributes + relationships + indexes
}

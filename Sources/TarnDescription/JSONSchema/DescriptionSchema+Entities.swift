// The schema of the `entities` section.

import Tarn

extension DescriptionSchema {
    static var entity: SchemaNode {
        .expandable(
            [
                Property(name: "parent", about: "The entity of which this one is a kind.", node: .text),
                Property(
                    name: "key", about: "The attribute that identifies a record, or a list of them.",
                    node: .oneOrMore(.text)),
                Property(
                    name: "attributes", about: "From names to types.", node: .map(.either([type, attribute]))),
                Property(
                    name: "relationships", about: "From names to other entities.",
                    node: .map(.either([destination, relationship]))),
                Property(
                    name: "indexes", about: "From names to attributes.",
                    node: .map(.either([.oneOrMore(.text), index]))),
                Property(
                    name: "compression", about: "How records are stored.",
                    node: words(EntityDefinition.Compression.self)),
                Property(name: "was", about: "The previous name, if the entity was renamed.", node: .text),
                Property(
                    name: "api", about: "The API that has the records: its naming, rules and URLs apply.", node: .text),
                Property(name: "open", about: "The URL template of a record's web page.", node: .text),
                Property(
                    name: "ignore", about: "JSON paths that are known and not wanted.", node: .oneOrMore(.text)),
                Property(name: "rest", about: "The json attribute that keeps everything unmapped.", node: .text),
                Property(name: "version", about: "The attribute that orders versions of a record.", node: .text),
                Property(
                    name: "deleted", about: "The JSON path that marks a deleted record, and its value.",
                    node: .either([.text, .map(.text)])),
                Property(name: "naming", about: "The style of names in JSON.", node: words(NamingStyle.self)),
                Property(
                    name: "kinds", about: "From entities to the conditions of their records.",
                    node: .map(.map(.either([.oneOrMore(.text), .null])))),
                Property(
                    name: "otherwise", about: "What a record of an unknown kind becomes.",
                    node: words(EntityChoice.Otherwise.self)),
                Property(
                    name: "url", about: "The form of the URLs of the records, such as /users/{id}: they are keys.",
                    node: .either([.oneOrMore(.text), url])),
                Property(name: "write", about: "The requests that send local changes.", node: write),
            ] + rules + expansions)
    }

    private static var url: SchemaNode {
        .object(
            [
                Property(name: "template", about: "The template, or a list of them.", node: .oneOrMore(.text)),
                Property(name: "from", about: "The key path of the URL in a record.", node: .oneOrMore(.text)),
            ], required: ["template"])
    }

    /// A type, such as `int`, `string?` or `[string]`.
    private static var type: SchemaNode {
        let names = AttributeType.named.map(\.description) + ["enum"]
        return .either([
            .words(names + names.map { "\($0)?" }),
            .pattern("^\\[(\(names.joined(separator: "|")))\\]\\??$"),
            .list(.words(names)),
        ])
    }

    private static var sources: [Property] {
        [
            Property(
                name: "from", about: "A key path, a text with key paths, or a list of them in order.",
                node: .oneOrMore(.text)),
            Property(name: "value", about: "A constant instead of a value from JSON.", node: .any),
            Property(name: "naming", about: "The style of the own name in JSON.", node: words(NamingStyle.self)),
            Property(name: "nulls", about: "What null means for the stored value.", node: words(NullPolicy.self)),
            Property(name: "was", about: "The previous name, if it was renamed.", node: .text),
        ]
    }

    private static var attribute: SchemaNode {
        .object(
            [
                Property(name: "type", about: "The type; a ? at its end makes it optional.", node: type),
                Property(name: "index", about: "Whether the values have an index.", node: .flag),
                Property(name: "unique", about: "Whether no two records have the same value.", node: .flag),
                Property(name: "default", about: "The value of a record that lacks the attribute.", node: .any),
                Property(
                    name: "epoch", about: "The unit of a date that is a number.", node: words(EpochUnit.self)),
                Property(name: "values", about: "The texts of an enum.", node: .list(.text)),
                Property(name: "coercion", about: "lenient or strict.", node: words(CoercionMode.self)),
                Property(name: "format", about: "The form of a date, or a list of forms.", node: .oneOrMore(.text)),
                Property(
                    name: "absent", about: "What an absent member means, or the value that it stands for.",
                    node: .either([
                        words(AbsentPolicy.self),
                        .object(
                            [Property(name: "value", about: "The value.", node: .any)], required: ["value"]),
                    ])),
                Property(name: "fallback", about: "The value for a text that an enum does not have.", node: .text),
                Property(
                    name: "transform", about: "Transformers of the JSON value, in order.", node: .oneOrMore(.text)),
            ] + sources, required: ["type"])
    }

    /// `User`, or `[Label]` if there are many.
    private static var destination: SchemaNode { .either([.text, .list(.text)]) }

    private static var relationship: SchemaNode {
        .object(
            [
                Property(name: "to", about: "The entity, or [Entity] if there are many.", node: destination),
                Property(name: "inverse", about: "The relationship at the other entity.", node: .text),
                Property(name: "ordered", about: "Whether the order counts.", node: .flag),
                Property(
                    name: "on_delete", about: "What happens to the targets when a record is deleted.",
                    node: words(RelationshipDefinition.DeleteRule.self)),
                Property(
                    name: "by", about: "The URLs that name the targets here, if the target's url differs.",
                    node: .oneOrMore(.text)),
                Property(name: "join", about: "An attribute and its counterpart.", node: .map(.text)),
                Property(name: "absent", about: "What an absent member means.", node: words(AbsentPolicy.self)),
                Property(name: "to_many", about: "How a list meets the stored one.", node: words(ToManyPolicy.self)),
            ] + sources, required: ["to"])
    }

    private static var index: SchemaNode {
        .object(
            [
                Property(name: "on", about: "The attribute, or a list of them in order.", node: .oneOrMore(.text)),
                Property(name: "unique", about: "Whether no two records have the same values.", node: .flag),
                Property(
                    name: "ignore_case", about: "The attributes whose case does not matter.", node: .oneOrMore(.text)),
                Property(
                    name: "where", about: "The records that the index contains.",
                    node: .either([.text, .map(.either([.text, .null]))])),
                Property(name: "was", about: "The previous name, if the index was renamed.", node: .text),
            ], required: ["on"])
    }
}

// The JSON Schema of description files, for editors. Words and styles come from the types that the
// reader uses; a test compares the keys of every mapping with those that the reader accepts.

import Tarn
import TarnHTTP

/// The JSON Schema of `tarn.yaml`.
package enum DescriptionSchema {
    typealias Property = SchemaNode.Property

    /// The address of the schema, which `$id` has.
    static let id = "https://tarn.example/tarn.schema.json"

    /// The schema as JSON text, without a line break at its end.
    package static let text: String = {
        var text = ""
        json.append(to: &text)
        return text
    }()

    private static var json: SchemaJSON {
        guard case .object(let members) = root.json else { return .object([]) }
        let header: [(String, SchemaJSON)] = [
            ("$schema", "https://json-schema.org/draft/2020-12/schema"), ("$id", .text(id)),
            ("title", "Tarn description file"),
            ("description", "Where an API is, what its records are, and what to fetch."),
        ]
        let definitions: [(String, SchemaJSON)] = [
            ("secret", secret.json), ("responses", responses.json), ("naming", .object(namingMembers)),
            ("api", api.json), ("endpoint", endpoint.json), ("request", writeRequest.json),
        ]
        return .object(header + members + [("$defs", .object(definitions))])
    }

    private static var root: SchemaNode {
        .object(
            [
                Property(name: "store", about: "The directory of the store, relative to this file.", node: .text),
                Property(
                    name: "api", about: "The server, and the properties of every request.", node: .reference("api")),
                Property(
                    name: "apis", about: "Several servers by name, instead of api; the first one is the default.",
                    node: .map(.reference("api"))),
                Property(
                    name: "entities", about: "The kinds of records, by name.",
                    node: .map(entity)),
                Property(name: "endpoints", about: "The requests, by name.", node: .map(.reference("endpoint"))),
                Property(
                    name: "templates", about: "Parts of entities and endpoints that resemble each other, by name.",
                    node: .map(.any)),
                Property(
                    name: "include", about: "Files with parts of the description, relative to this file.",
                    node: .oneOrMore(.text)),
                // An included file may have what this one lacks, so nothing is required.
            ], required: [])
    }

    private static var namingMembers: [(String, SchemaJSON)] {
        guard case .object(let members) = naming.json else { return [] }
        return members
    }

    // MARK: Shared parts

    /// `{ env: NAME }`, `{ file: PATH }` or `{ command: [PROGRAM, ARGUMENT] }`.
    private static var secret: SchemaNode {
        .object(
            [
                Property(name: "env", about: "The environment variable that has the secret.", node: .text),
                Property(name: "file", about: "The file that has the secret, relative to this file.", node: .text),
                Property(
                    name: "command", about: "The program that prints the secret, and its arguments.",
                    node: .oneOrMore(.text)),
            ], required: [])
    }

    private static var responses: SchemaNode {
        .list(
            .object(
                [
                    Property(
                        name: "status", about: "A status, a range such as 500-599, or a list of them.",
                        node: .oneOrMore(.text)),
                    Property(name: "contains", about: "A text in the body.", node: .text),
                    Property(
                        name: "then", about: "What the response means.",
                        node: words(ResponseRule.Action.self)),
                    Property(name: "message", about: "The text of the error.", node: .text),
                ], required: ["then"]))
    }

    private static var naming: SchemaNode {
        .either([
            words(NamingStyle.self),
            .object(
                [
                    Property(name: "style", about: "The style of names in JSON.", node: words(NamingStyle.self)),
                    Property(name: "words", about: "From words in JSON to words in names.", node: .map(.text)),
                    Property(
                        name: "references", about: "The ends of keys that hold bare keys of other records: [_id].",
                        node: .oneOrMore(.text)),
                ], required: []),
            .map(.text),
        ])
    }

    /// The rules that `api` and entities share.
    static var rules: [Property] {
        [
            Property(
                name: "coercion", about: "How far JSON may differ from the types: lenient or strict.",
                node: words(CoercionMode.self)),
            Property(name: "dates", about: "The format of dates, or a list of formats.", node: .oneOrMore(.text)),
            Property(name: "nulls", about: "What null means for a stored value.", node: words(NullPolicy.self)),
            Property(name: "absent", about: "What an absent member means.", node: words(AbsentPolicy.self)),
            Property(name: "to_many", about: "How a list meets the stored one.", node: words(ToManyPolicy.self)),
            Property(
                name: "duplicates", about: "What happens to a record that comes again in one response.",
                node: words(DuplicatePolicy.self)),
            Property(
                name: "keyless", about: "What happens to a record without a key.", node: words(KeylessPolicy.self)),
            Property(
                name: "local", about: "What an import does with local changes.", node: words(LocalPolicy.self)),
        ]
    }

    /// `like` and `each`, which entities and endpoints share.
    static var expansions: [Property] {
        [
            Property(
                name: "like", about: "The templates, the later ones over the earlier ones.",
                node: .either([.text, .mapping, .list(.either([.text, .mapping, .list(.any)]))])),
            Property(
                name: "each", about: "The names for which this stands; <name> is replaced by each of them.",
                node: .any),
        ]
    }

    static func words<Word: RawRepresentable<String> & CaseIterable>(_ type: Word.Type) -> SchemaNode {
        .words(type.allCases.map(\.rawValue))
    }
}

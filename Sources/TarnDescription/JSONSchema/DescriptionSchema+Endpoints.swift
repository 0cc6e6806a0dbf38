// The schema of the `endpoints` section.

import Tarn
import TarnHTTP

extension DescriptionSchema {
    static var endpoint: SchemaNode {
        .expandable(
            [
                Property(name: "path", about: "The path, with variables such as {owner}.", node: .text),
                Property(name: "with", about: "Parameters of the path and the query.", node: .map(.oneOrMore(.text))),
                Property(name: "headers", about: "Further header fields.", node: .map(.text)),
                Property(
                    name: "method", about: "The method of the requests.", node: .words(["GET", "POST", "PUT", "QUERY"])),
                Property(name: "body", about: "The JSON object of the requests.", node: .map(.any)),
                Property(name: "form", about: "The form fields of the requests.", node: .map(.text)),
                Property(
                    name: "format", about: "The form of the responses: one JSON document, or lines of JSON.",
                    node: words(BodyForm.self)),
                Property(
                    name: "wait", about: "How long an answer that comes later is waited for.",
                    node: .either([.words(["never"]), wait])),
                Property(
                    name: "records", about: "Where the records are: a key path, or key paths with their entities.",
                    node: .either([.text, .map(.either([.text, part]))])),
                Property(
                    name: "columns",
                    about:
                        "Where the names of columns are, or the names: of the records, or of several lists by their key paths.",
                    node: .either([.text, .list(.text), .map(.oneOrMore(.text))])),
                Property(name: "entity", about: "The entity of the records.", node: .text),
                Property(name: "paginate", about: "How further pages are requested.", node: pagination),
                Property(name: "restart", about: "How a scan begins again behind deep pages.", node: restart),
                Property(name: "limit", about: "The end of a scan before its last page.", node: limit),
                Property(
                    name: "more", about: "What signs of further records at the end mean.",
                    node: .either([
                        words(DescriptionReader.MoreWord.self),
                        .object(
                            [Property(name: "ignore", about: "The signs to ignore.", node: .oneOrMore(.text))],
                            required: ["ignore"]),
                    ])),
                Property(
                    name: "for_each", about: "The entity for whose records the endpoint is requested.",
                    node: .either([.text, forEach])),
                Property(
                    name: "commit", about: "What is one change of the store.",
                    node: .either([
                        .words(["page", "walk"]),
                        .object(
                            [Property(name: "every", about: "Pages per commit.", node: .integer(minimum: 1))],
                            required: ["every"]),
                    ])),
                Property(
                    name: "orphans", about: "What happens to records that the server no longer lists.", node: orphans),
                Property(name: "responses", about: "Rules for responses.", node: .reference("responses")),
                Property(name: "metadata", about: "From names to key paths in responses.", node: .map(.text)),
                Property(name: "since", about: "Requests of what has changed since the last sync.", node: since),
                Property(
                    name: "partitions", about: "From parameters to the values that the endpoint is scanned for.",
                    node: .map(.oneOrMore(.text))),
                Property(
                    name: "url", about: "Instead of path: the attribute that has the URL, such as {item.url}.",
                    node: .text),
                Property(name: "excerpts", about: "Whether the listed objects are excerpts.", node: .flag),
                Property(
                    name: "children", about: "The requests for the listed records, by name.",
                    node: .map(.without(key: "each", .reference("endpoint")))),
                Property(
                    name: "every", about: "How long after a complete scan --watch scans again: 15m.", node: .text),
                Property(
                    name: "at", about: "When --watch scans, daily: '03:00 UTC', '03:00 local', or a list.",
                    node: .oneOrMore(.text)),
                Property(
                    name: "prefetch", about: "Whether the next page is requested before a page is committed.",
                    node: .flag),
                Property(name: "api", about: "The API of the requests (default: the first one).", node: .text),
                Property(name: "parent", about: "Of a child: the relationship to the listed record.", node: .text),
                Property(
                    name: "only", about: "Of a child: only for records that are new or have changed.",
                    node: .words(["changed"])),
            ] + expansions)
    }

    private static var wait: SchemaNode {
        .object(
            [
                Property(name: "at_most", about: "The longest wait: 2h.", node: .text),
                Property(
                    name: "every", about: "The time between two requests, unless the server names one: 10s.",
                    node: .text),
                Property(name: "state", about: "The location of the state in a response.", node: .text),
                Property(name: "while", about: "The states of an unfinished answer.", node: .oneOrMore(.text)),
                Property(
                    name: "url", about: "The location of the URL of the status monitor in a response.", node: .text),
            ], required: [])
    }

    private static var since: SchemaNode {
        .object(
            [
                Property(name: "param", about: "The parameter that is sent.", node: .text),
                Property(name: "body", about: "The keys in the body.", node: .text),
                Property(name: "header_field", about: "The header field that is sent.", node: .text),
                Property(
                    name: "latest_first", about: "Whether the list begins with the latest record: nothing is sent.",
                    node: .flag),
                Property(name: "until", about: "The parameter with the end of a window.", node: .text),
                Property(name: "window", about: "The longest window: 30d.", node: .text),
                Property(name: "field", about: "The location of the value in a record.", node: .text),
                Property(name: "cursor", about: "The location of the value in a response.", node: .text),
                Property(name: "header", about: "The header field of a response with the value.", node: .text),
                Property(name: "link", about: "The location of the next request in a response.", node: .text),
                Property(name: "initial", about: "The value of the first sync.", node: .text),
                Property(name: "start", about: "The request for the first value.", node: start),
                Property(name: "lag", about: "How far before the last value a sync begins.", node: .text),
                Property(
                    name: "range", about: "Whether the server includes the value.", node: words(Incremental.Range.self)),
                Property(
                    name: "granularity", about: "The precision of the value.",
                    node: words(Incremental.Granularity.self)),
                Property(name: "format", about: "The form of the date that is sent.", node: .text),
                Property(name: "text", about: "The text that is sent, with {value} in it.", node: .text),
                Property(
                    name: "expired", about: "The refusal of a value that is too old.", node: .oneOrMore(.text)),
                Property(
                    name: "full_every", about: "How long after a scan of everything another one follows: 7d.",
                    node: .text),
            ], required: [])
    }

    private static var start: SchemaNode {
        .object(
            [
                Property(name: "path", about: "The path of the request.", node: .text),
                Property(name: "cursor", about: "The location of the value in the response.", node: .text),
                Property(name: "status", about: "The refusal that has the value.", node: .oneOrMore(.text)),
                Property(name: "list", about: "The endpoint with the whole list.", node: .text),
            ], required: [])
    }

    private static var part: SchemaNode {
        .object(
            [
                Property(name: "entity", about: "The entity of the records.", node: .text),
                Property(name: "optional", about: "Whether a response may lack them.", node: .flag),
                Property(name: "except", about: "The members of a map that are no records.", node: .oneOrMore(.text)),
                Property(
                    name: "record", about: "The location of the record, or of its key, in an element.",
                    node: .oneOrMore(.text)),
                Property(name: "where", about: "The conditions of the elements that count.", node: conditions),
                Property(
                    name: "deleted", about: "Whether the elements are deleted records, or the conditions of those.",
                    node: .either([.flag, conditions])),
            ], required: ["entity"])
    }

    private static var conditions: SchemaNode { .map(.either([.oneOrMore(.text), .null])) }

    private static var forEach: SchemaNode {
        .object(
            [
                Property(name: "entity", about: "The entity whose records are used.", node: .text),
                Property(name: "parent", about: "The relationship that is set to that record.", node: .text),
                Property(
                    name: "only", about: "changed: only for records that are new or have changed.",
                    node: .words(["changed"])),
            ], required: ["entity"])
    }

    private static var restart: SchemaNode {
        .object(
            [
                Property(name: "param", about: "The parameter that is sent.", node: .text),
                Property(name: "body", about: "The keys in the body.", node: .text),
                Property(name: "field", about: "The location of the value in a record.", node: .text),
                Property(name: "status", about: "The refusal of a deep page.", node: .oneOrMore(.text)),
                Property(name: "records", about: "Records before the server refuses.", node: .integer(minimum: 1)),
                Property(name: "pages", about: "Pages before the server refuses.", node: .integer(minimum: 1)),
            ], required: ["field"])
    }

    private static var limit: SchemaNode {
        .object(
            [
                Property(name: "pages", about: "Pages at most.", node: .integer(minimum: 1)),
                Property(name: "records", about: "Records at most.", node: .integer(minimum: 1)),
                Property(
                    name: "then", about: "Whether the limit is an error.",
                    node: words(DescriptionReader.LimitEnd.self)),
            ], required: [])
    }

    private static var orphans: SchemaNode {
        .either([
            .words(DescriptionReader.orphanWords),
            .object(
                [
                    Property(
                        name: "scope", about: "The records that the endpoint could list.",
                        node: .words(["listed", "owner", "entity"])),
                    Property(name: "where", about: "Instead of scope: a condition.", node: .text),
                    Property(
                        name: "after", about: "Complete scans that have to miss a record.",
                        node: .words(["two_scans", "one_scan"])),
                    Property(name: "keep", about: "A condition: records that meet it stay.", node: .text),
                    Property(name: "allow_empty", about: "Whether an empty scan counts.", node: .flag),
                    Property(name: "then", about: "Delete or unlink.", node: words(Orphans.Action.self)),
                    Property(name: "check", about: "The path of a request for one record.", node: .text),
                ], required: []),
        ])
    }

    /// The styles of ``PaginationStyles/standard``, with their keys.
    private static var pagination: SchemaNode {
        let syntaxes = PaginationStyles.standard.syntaxes
        return .either([
            .words(syntaxes.filter { $0.bare != nil }.map(\.name)),
            .object(
                syntaxes.filter { !$0.keys.isEmpty }.map { syntax in
                    Property(
                        name: syntax.name, about: "The style \(syntax.name).",
                        node: .object(
                            syntax.keys.flatMap { key in
                                key.names.map { Property(name: $0, about: about[$0] ?? "", node: node(of: key)) }
                            }, required: syntax.keys.filter { $0.isRequired && $0.names.count == 1 }.map { $0.names[0] }
                        ))
                }, required: []),
        ])
    }

    private static func node(of key: PaginationKey) -> SchemaNode {
        switch key.kind {
        case .text, .path, .parameter: .text
        case .flag: .flag
        case .number(let minimum): .integer(minimum: minimum)
        case .word(let words): .words(words)
        case .pageSize: .map(.integer(minimum: 1))
        }
    }

    private static let about = [
        "param": "The query parameter that is sent.", "body": "The keys in the body instead of a parameter.",
        "path": "The location of the cursor, URL or parameters in the response.",
        "field": "The header field with the cursor.",
        "start": "The number, or the cursor, of the first page.",
        "per_page": "The parameter of the page size, and the size.",
        "total": "The location of the number of records.", "total_pages": "The location of the number of pages.",
        "has_more": "The location of a boolean: false ends the scan.",
        "is_last": "The location of a boolean: true ends the scan.", "last": "A cursor that marks the end.",
        "end": "Which page is the last one.", "id": "The location of a record's id.",
        "includes_named": "Whether the server lists the named record again.", "rel": "The link relation.",
        "alone": "Whether further requests have no other parameter.",
        "text": "The text that is sent, with {value} in it.",
        "url": "The path to which the cursor is sent, without other parameters.",
    ]
}

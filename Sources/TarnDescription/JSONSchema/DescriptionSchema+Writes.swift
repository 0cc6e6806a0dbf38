// The schema of `write` of an entity.

import Tarn
import TarnImport

extension DescriptionSchema {
    static var write: SchemaNode {
        .object(
            [
                Property(name: "create", about: "The request that creates a record.", node: .reference("request")),
                Property(name: "update", about: "The request that changes a record.", node: .reference("request")),
                Property(name: "delete", about: "The request that deletes a record.", node: .reference("request")),
                Property(
                    name: "fields", about: "From fields to the requests for their changes.", node: .map(fieldRequests)),
                Property(
                    name: "relationships", about: "From to-many relationships to the requests for their members.",
                    node: .map(memberRequests)),
                Property(name: "read", about: "The URL that reads a record after a conflict.", node: .text),
                Property(name: "base", about: "The base URL of the requests.", node: .text),
                Property(
                    name: "idempotency", about: "The header field of the idempotency key, or none.", node: .text),
                Property(
                    name: "conflicts", about: "The rule for records that both sides have changed.",
                    node: words(DescriptionReader.ConflictWord.self)),
                Property(
                    name: "overlap", about: "The rule for fields that both sides have changed.",
                    node: words(ConflictRule.Overlap.self)),
            ], required: [])
    }

    /// A request, or one for each value.
    private static var fieldRequests: SchemaNode {
        .either([
            .reference("request"),
            .object(
                [
                    Property(
                        name: "values", about: "From values to their requests.", node: .map(.reference("request"))),
                    Property(
                        name: "otherwise", about: "The request for other values.", node: .reference("request")),
                ], required: ["values"]),
        ])
    }

    private static var memberRequests: SchemaNode {
        .object(
            [
                Property(name: "add", about: "The request for each added member.", node: .reference("request")),
                Property(name: "remove", about: "The request for each removed member.", node: .reference("request")),
                Property(name: "base", about: "The base URL of both.", node: .text),
            ], required: [])
    }

    /// `POST /issues`, or the same with options.
    static var writeRequest: SchemaNode {
        .either([
            .pattern("^\\s*(POST|PUT|PATCH|DELETE)\\s+\\S+\\s*$"),
            .object(
                [
                    Property(name: "request", about: "The method and the URL template.", node: .text),
                    Property(
                        name: "body", about: "The content of the body.", node: words(WriteRequest.Body.self)),
                    Property(
                        name: "format", about: "The format of the body.", node: words(WriteRequest.Format.self)),
                    Property(
                        name: "envelope", about: "The key path of the object in the body that has the fields.",
                        node: .text),
                    Property(name: "fields", about: "The only fields that are sent.", node: .oneOrMore(.text)),
                    Property(
                        name: "mask",
                        about: "The query parameter of an update with the names of the changed fields.", node: .text),
                    Property(
                        name: "set", about: "From key paths in the body to values that are always sent.",
                        node: .map(.any)),
                    Property(
                        name: "places", about: "From fields to their key paths in the body.", node: .map(.text)),
                    Property(
                        name: "references",
                        about: "The form of references, or a form or a template for each relationship.",
                        node: .either([
                            words(ReferenceForm.self),
                            .map(.either([words(ReferenceForm.self), .pattern("\\{"), .mapping, .list(.any)])),
                        ])),
                    Property(name: "records", about: "The key path of the record in the answer.", node: .text),
                    Property(name: "headers", about: "Further header fields.", node: .map(.text)),
                ], required: ["request"]),
        ])
    }
}

// An operation of a specification that changes records.

import Tarn

/// A POST, PUT, PATCH or DELETE: its path, its parameters, and the shape of its body.
struct ChangeOperation {
    /// The method in capitals.
    var method: String
    var path: String
    var segments: [String]
    var parameters: [Operation.Parameter]
    /// The shape of the body; nil without one, or if it declares none.
    var body: ObjectShape?
    /// The shape of the answer; nil if it declares none.
    var answer: ObjectShape?
    /// The media type of the body; nil without one.
    var mediaType: String?
    /// The format of the body.
    var format = WriteRequest.Format.json
    /// The reason why a description cannot have it; nil if it can.
    var problem: String?

    /// Whether a GET of the same path is declared.
    let isRead: Bool

    /// Whether a POST to the same path is no change of a record.
    var replacesPost: Bool { method == "PATCH" || method == "PUT" }

    /// The header field of the idempotency key; nil if none is declared.
    var idempotencyField: String? {
        parameters.first { $0.place == .header && $0.name.lowercased().contains("idempoten") }?.name
    }

    /// Creates an operation; nil for a deprecated one, and without a readable value.
    ///
    /// - Parameters:
    ///   - shapes: those of bodies.
    ///   - answers: those of responses.
    init?(
        _ method: String, _ path: String, _ item: JSONValue, _ document: OpenAPIDocument, _ shapes: SchemaShapes,
        _ answers: SchemaShapes
    ) {
        guard let value = item[method], case .object = value, value["deprecated"] != .bool(true),
            path.hasPrefix("/"), path.utf8.count <= 500, !path.unicodeScalars.contains(where: YAMLText.isUnsafe)
        else { return nil }
        self.method = method.uppercased()
        if case .object? = item["get"] { isRead = true } else { isRead = false }
        parameters = Operation.parameters(
            (item["parameters"]?.elements ?? []) + (value["parameters"]?.elements ?? []), document)
        self.path = Operation.renamingVariables(path, &parameters)
        segments = self.path.split(separator: "/").map(String.init)
        if let servers = (value["servers"] ?? item["servers"])?.elements, !servers.isEmpty {
            problem = "it declares servers of its own"
        }
        let known = parameters.filter { $0.isRequired && !$0.isInPath && $0.name != idempotencyField }
        if let needed = known.first(where: { !ChangeOperation.ownHeaders.contains($0.name.lowercased()) }) {
            problem = "its parameter `\(YAMLText.comment(needed.name, limit: 40))` is required"
        }
        problem = problem ?? Operation.problem(ofPath: self.path)
        if method != "delete" {
            let responses = value["responses"]?.members.filter { $0.key.hasPrefix("2") } ?? []
            let contents = responses.lazy.compactMap { document.resolve($0.value)?.value["content"]?.members }
            let media = contents.compactMap { $0.first { Operation.isJSON($0.key) } }.first
            answer = (media?.value["schema"]).flatMap { answers.value($0).object }
        }
        guard let request = value["requestBody"].flatMap({ document.resolve($0)?.value }) else { return }
        readBody(request["content"]?.members ?? [], shapes)
    }

    /// Header fields that each request has.
    private static let ownHeaders: Set = ["accept", "content-type", "authorization", "if-match", "if-unmodified-since"]

    private mutating func readBody(_ content: [JSONValue.Member], _ shapes: SchemaShapes) {
        let known = content.compactMap { member in
            ChangeOperation.format(of: member.key).map { (member: member, format: $0.format, rank: $0.rank) }
        }
        guard let best = known.min(by: { $0.rank < $1.rank }) else {
            guard let first = content.first else { return }
            problem = "its body is \(YAMLText.comment(first.key, limit: 60))"
            return
        }
        format = best.format
        mediaType = best.member.key.lowercased().filter { $0 != " " }
        guard format != .jsonPatch, let schema = best.member.value["schema"] else { return }
        let shape = shapes.value(schema)
        if shape.isObject { body = shape.object } else { problem = "its body is no object" }
    }

    /// The format of a media type, and its rank: the smallest one is taken; nil for other types.
    private static func format(of type: String) -> (format: WriteRequest.Format, rank: Int)? {
        let name = type.lowercased().prefix { $0 != ";" && $0 != " " }
        return switch name {
        case "application/json", "*/*", "application/*": (.json, 0)
        case "application/merge-patch+json": (.mergePatch, 2)
        case "application/json-patch+json": (.jsonPatch, 4)
        case "application/x-www-form-urlencoded": (.form, 3)
        case _ where name.hasPrefix("application/") && name.hasSuffix("+json"): (.json, 1)
        default: nil
        }
    }
}

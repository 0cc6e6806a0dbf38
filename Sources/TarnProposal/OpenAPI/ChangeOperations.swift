// The operations of a specification that change records, by their paths.

import Tarn

/// Finds the operations at a path, whatever the names of its variables are.
struct ChangeOperations {
    private let document: OpenAPIDocument
    private let shapes: SchemaShapes
    private let answers: SchemaShapes
    private var items: [String: [(path: String, item: JSONValue)]] = [:]

    /// The maximum number of paths that are looked at.
    private static let limit = 20_000

    init(_ document: OpenAPIDocument) {
        self.document = document
        shapes = SchemaShapes(document, areOfRequests: true)
        answers = SchemaShapes(document)
        for path in document.root["paths"]?.members.prefix(ChangeOperations.limit) ?? [] {
            guard let (item, _) = document.resolve(path.value) else { continue }
            let segments = path.key.split(separator: "/").map(String.init)
            items[ChangeOperations.plain(segments), default: []].append((path.key, item))
        }
    }

    /// Returns the operations at a path, in the order of the methods.
    func operations(at segments: [String], _ methods: [String]) -> [ChangeOperation] {
        let found = items[ChangeOperations.plain(segments)] ?? []
        return methods.flatMap { method in
            found.compactMap { ChangeOperation(method, $0.path, $0.item, document, shapes, answers) }.prefix(1)
        }
    }

    /// A path without the names of its variables, and without the ending `.json`.
    private static func plain(_ segments: [String]) -> String {
        segments.map { segment in
            if Operation.variable(segment) != nil { return "{}" }
            return segment.hasSuffix(".json") ? String(segment.dropLast(5)) : segment
        }
        .joined(separator: "/")
    }
}

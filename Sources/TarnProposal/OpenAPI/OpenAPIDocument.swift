// An OpenAPI document: JSON or YAML, with references resolved on demand.

import Tarn

/// An OpenAPI 3.0 or 3.1 document, with the documents to which it refers.
package struct OpenAPIDocument: Sendable {
    /// The name of the file or the URL, for comments.
    package let name: String
    let root: JSONValue
    /// The schemas of the components by name: there may be many, and most references are to them.
    let schemas: [String: JSONValue]
    /// The URL of the document, to which server URLs are relative; nil for a file.
    let url: String?
    private let files: SpecificationFiles
    /// The values and names of the places that are no schemas of the components.
    private let places: ReferencedPlaces

    /// Parses a document without others beside it.
    ///
    /// - Throws: `SampleError.specification` if it is neither JSON nor YAML, or no OpenAPI 3.
    package init(_ body: [UInt8], name: String, url: String? = nil) throws(SampleError) {
        try self.init(SpecificationFiles(body, name: name, home: .text), name: name, url: url)
    }

    /// Creates a document from its files.
    ///
    /// - Throws: `SampleError.specification` if it is no OpenAPI 3.
    init(_ files: SpecificationFiles, name: String, url: String? = nil) throws(SampleError) {
        self.name = name
        self.url = url
        self.files = files
        root = files.root
        schemas = OpenAPIDocument.schemas(in: root)
        places = ReferencedPlaces(files, schemas: schemas)
        guard let version = root["openapi"]?.scalarText else {
            let isSwagger = root["swagger"] != nil
            throw .specification(
                name,
                reason: isSwagger
                    ? "this is Swagger 2.0: convert it to OpenAPI 3" : "no OpenAPI document: it has no `openapi`")
        }
        guard version.hasPrefix("3.") else {
            throw .specification(name, reason: "OpenAPI \(YAMLText.comment(version, limit: 20)): 3.0 or 3.1 is needed")
        }
    }

    private static func schemas(in root: JSONValue) -> [String: JSONValue] {
        let members = root["components"]?["schemas"]?.members ?? []
        return Dictionary(members.map { ($0.key, $0.value) }) { first, _ in first }
    }

    // MARK: References

    /// Returns the value that a reference leads to, through further references.
    ///
    /// - Returns: the value and the name of the last reference's target, such as `Pet`; nil for a
    ///   reference to a document that is not read, or to nothing.
    func resolve(_ value: JSONValue) -> (value: JSONValue, name: String?)? {
        var value = value, name: String?
        for _ in 0..<ReferencedPlaces.longestChain {
            guard let reference = value["$ref"]?.scalarText else { return (value, name) }
            guard let target = target(of: reference) else { return nil }
            (value, name) = target
        }
        return nil
    }

    /// Returns the value at a place, and its name.
    private func target(of reference: String) -> (value: JSONValue, name: String?)? {
        if let schema = ReferencedPlaces.schemaName(reference) { return schemas[schema].map { ($0, schema) } }
        return places.values[reference].map { ($0, places.names[reference]) }
    }

    /// Returns the name of the schema at a place; nil if there is none.
    func schemaName(at reference: String) -> String? {
        resolve(.object([JSONValue.Member("$ref", .string(reference))]))?.name
    }

    /// The documents that cannot be read, each with its reason, in order.
    var unread: [(location: String, reason: String)] {
        files.failures.sorted { $0.key < $1.key }.map { location, reason in
            let name = location.contains("://") ? Redaction.url(location) : location
            return (YAMLText.comment(name, limit: 120), YAMLText.comment(reason, limit: 300))
        }
    }

    /// Returns the reason why a reference has no target; nil if it has one, or is none.
    func unresolved(_ value: JSONValue) -> String? {
        guard let reference = value["$ref"]?.scalarText, resolve(value) == nil else { return nil }
        // The last place of the chain that is there.
        var place = reference
        for _ in 0..<ReferencedPlaces.longestChain {
            guard let next = target(of: place)?.value["$ref"]?.scalarText else { break }
            place = next
        }
        guard target(of: place) == nil else { return "refers to itself, by \(YAMLText.comment(reference, limit: 120))" }
        let location = String(place.prefix { $0 != "#" })
        let name = YAMLText.comment(location.contains("://") ? Redaction.url(place) : place, limit: 120)
        guard !location.isEmpty, files.documents[location] == nil else {
            return "refers to \(name), which does not exist"
        }
        let reason = YAMLText.comment(files.failures[location] ?? "it is not read", limit: 300)
        return "refers to another document, \(name): \(reason)"
    }
}

extension JSONValue {
    /// The members of an object; empty for other values.
    var members: [Member] { if case .object(let members) = self { members } else { [] } }
    /// The elements of a list; empty for other values.
    var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
}

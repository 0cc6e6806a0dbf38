// A specification in several files: the documents to which it refers, and the places of references.

import Tarn

/// The documents of a specification, with references that name the place of their target.
///
/// A place is the location of a document and a JSON Pointer in it, with `#` between them (RFC 6901
/// §6). The location of the specification itself is empty; those of the other documents are paths
/// relative to its folder, or URLs. Only documents beside the specification are read: files for a
/// file, and documents of the same server for a URL.
struct SpecificationFiles: Sendable {
    /// The origin of the specification.
    enum Home: Sendable {
        /// A text without a place: it refers to no other document.
        case text
        /// The name of the file in its folder.
        case file(String)
        case url(HTTPURL)
    }

    /// The maximum number of documents.
    private static let limit = 1000
    /// The keys of objects whose own keys are names.
    private static let maps: Set = [
        "properties", "patternProperties", "schemas", "parameters", "headers", "responses", "requestBodies", "links",
        "callbacks", "examples", "securitySchemes", "pathItems", "definitions", "$defs", "dependentSchemas", "content",
    ]
    /// The depth down to which references are looked for.
    private static let depthLimit = 200

    private(set) var root = JSONValue.null
    /// The other documents by their locations.
    private(set) var documents: [String: JSONValue] = [:]
    /// The reasons why documents are not read, by their locations.
    private(set) var failures: [String: String] = [:]
    /// Every reference, in the order of the documents.
    private(set) var references: [String] = []

    private let home: Home
    private var text = SpecificationText()
    private var waiting: [String] = []
    private var known: Set<String> = []
    private var found: Set<String> = []

    /// Parses the specification itself.
    ///
    /// - Throws: `SampleError.specification` if it is neither JSON nor YAML.
    init(_ body: [UInt8], name: String, home: Home) throws(SampleError) {
        self.home = home
        root = linked(try text.parse(body, name: name), at: "", depth: 0)
    }

    /// Returns the location of a document that is to be read; nil after the last one.
    mutating func next() -> String? {
        while let location = waiting.popLast() {
            guard let reason = problem(of: location) else { return location }
            failures[location] = reason
        }
        return nil
    }

    /// Adds a document.
    mutating func add(_ body: [UInt8], at location: String) {
        do throws(SampleError) {
            documents[location] = linked(try text.parse(body, name: location), at: location, depth: 0)
        } catch {
            fail(location, error)
        }
    }

    /// Notes that a document cannot be read.
    mutating func fail(_ location: String, _ error: SampleError) {
        failures[location] =
            switch error {
            case .unreadable(_, let reason): reason
            // The reasons of the parsers quote the text, which is that of any file.
            case .specification(_, let reason):
                reason.hasPrefix("not valid") ? String(reason.prefix { $0 != ":" }) : reason
            default: error.remark
            }
    }

    private func problem(of location: String) -> String? {
        guard documents.count + failures.count < SpecificationFiles.limit else {
            return "the specification has more than \(SpecificationFiles.limit) documents"
        }
        switch home {
        case .text: return "bundle the documents into one"
        case .file:
            guard !location.contains("://"), !location.hasPrefix("/") else {
                return "it is no relative path: bundle the documents into one"
            }
            return nil
        case .url(let home):
            guard (try? HTTPURL(location))?.origin == home.origin else {
                return "it is on another server: bundle the documents into one"
            }
            return nil
        }
    }

    // MARK: - References

    /// Replaces references by the places of their targets, and notes the documents that they name.
    ///
    /// - Parameter key: the key of the value.
    private mutating func linked(
        _ value: JSONValue, at location: String, depth: Int, key: String = ""
    ) -> JSONValue {
        guard depth < SpecificationFiles.depthLimit else { return value }
        switch value {
        case .array(let elements):
            return .array(elements.map { linked($0, at: location, depth: depth + 1) })
        case .object(var members):
            SpecificationFiles.moveReference(in: &members)
            for index in members.indices {
                // An extension is no part of the specification; a property may have such a name.
                if members[index].key.hasPrefix("x-"), !SpecificationFiles.maps.contains(key) { continue }
                if members[index].key == "$ref", case .string(let reference) = members[index].value {
                    members[index].value = .string(place(reference, at: location))
                    continue
                }
                members[index].value = linked(
                    members[index].value, at: location, depth: depth + 1, key: members[index].key)
                guard members[index].key == "discriminator" else { continue }
                members[index].value = linkedMapping(members[index].value, at: location)
            }
            return .object(members)
        default: return value
        }
    }

    /// Keywords of a schema that add to the reference beside them.
    private static let additions: Set = ["properties", "allOf", "oneOf", "anyOf", "nullable"]

    /// Moves a reference with such keywords beside it into `allOf`, which means the same.
    ///
    /// OpenAPI 3.1 takes them for parts of the schema; 3.0 ignores them, and authors write them.
    private static func moveReference(in members: inout [JSONValue.Member]) {
        guard let index = members.firstIndex(where: { $0.key == "$ref" }), case .string = members[index].value,
            members.contains(where: { additions.contains($0.key) })
        else { return }
        let reference = JSONValue.object([members.remove(at: index)])
        if let parts = members.firstIndex(where: { $0.key == "allOf" }) {
            members[parts].value = .array([reference] + members[parts].value.elements)
        } else {
            members.insert(JSONValue.Member("allOf", .array([reference])), at: index)
        }
    }

    /// Replaces the references in the mapping of a discriminator. Other values of it are names.
    private mutating func linkedMapping(_ discriminator: JSONValue, at location: String) -> JSONValue {
        guard case .object(var members) = discriminator,
            let index = members.firstIndex(where: { $0.key == "mapping" }),
            case .object(var kinds) = members[index].value
        else { return discriminator }
        for kind in kinds.indices {
            guard case .string(let target) = kinds[kind].value, SpecificationFiles.isReference(target) else { continue }
            kinds[kind].value = .string(place(target, at: location))
        }
        members[index].value = .object(kinds)
        return .object(members)
    }

    /// Whether a value of a mapping is a reference, and not the name of a schema.
    private static func isReference(_ target: String) -> Bool {
        target.contains("#") || target.contains("/") || [".yaml", ".yml", ".json"].contains(where: target.hasSuffix)
    }

    /// Returns the place that a reference in a document names.
    private mutating func place(_ reference: String, at location: String) -> String {
        let parts = reference.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let path = String(parts.first ?? ""), pointer = parts.count > 1 ? "#" + parts[1] : ""
        let target = path.isEmpty ? location : self.location(path, from: location)
        let place = target + pointer
        if found.insert(place).inserted { references.append(place) }
        if !target.isEmpty, known.insert(target).inserted { waiting.append(target) }
        return place
    }

    /// Returns the location of the document that a path in another document names.
    private func location(_ path: String, from location: String) -> String {
        switch home {
        case .text: return path
        case .url(let home):
            let base = location.isEmpty ? home : (try? HTTPURL(location)) ?? home
            guard let target = try? base.resolving(path) else { return path }
            return target == home ? "" : target.description
        case .file(let name):
            guard !path.contains("://") else { return path }
            let path = PercentEncoding.decode(path)
            let folder = location.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            let target = path.hasPrefix("/") ? path : SpecificationFiles.normalized(folder + path.split(separator: "/"))
            return target == name ? "" : target
        }
    }

    /// Removes `.` and `..` from the parts of a path.
    private static func normalized(_ parts: ArraySlice<Substring>) -> String {
        var result: [Substring] = []
        for part in parts where part != "." {
            if part == "..", let last = result.last, last != ".." { result.removeLast() } else { result.append(part) }
        }
        return result.joined(separator: "/")
    }
}

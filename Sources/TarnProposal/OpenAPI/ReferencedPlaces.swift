// The places of a specification that references name: their values, and names for their schemas.

import Tarn

/// The values and names of places that are not schemas of the components.
///
/// Each schema has a name of its own: a schema is described once under its name.
struct ReferencedPlaces: Sendable {
    /// The maximum number of references that lead from one to the next.
    static let longestChain = 32
    /// Parts of places that say nothing about a schema.
    private static let unspecific: Set = [
        "schema", "schemas", "items", "properties", "content", "responses", "get", "index", "_index", "model", "models",
        "definition", "definitions", "components", "paths", "allOf", "oneOf", "anyOf", "200", "201", "default", "main",
        "application/json", "$defs",
    ]

    private(set) var values: [String: JSONValue] = [:]
    private(set) var names: [String: String] = [:]

    init(_ files: SpecificationFiles, schemas: [String: JSONValue]) {
        for place in files.references where ReferencedPlaces.schemaName(place) == nil {
            values[place] = ReferencedPlaces.value(at: place, files)
        }
        var taken = Set(schemas.keys)
        // A schema of the components that only names another document gives it its name.
        for name in schemas.keys.sorted() {
            guard let target = schemas[name]?["$ref"]?.scalarText else { continue }
            let place = last(from: target, schemas)
            if ReferencedPlaces.schemaName(place) == nil, names[place] == nil { names[place] = name }
        }
        for reference in files.references {
            let place = last(from: reference, schemas)
            guard ReferencedPlaces.schemaName(place) == nil, names[place] == nil else { continue }
            let name = ReferencedPlaces.name(of: place, taken)
            taken.insert(name)
            names[place] = name
        }
    }

    /// Returns the name of a schema of the components at a place; nil for another place.
    static func schemaName(_ place: String) -> String? {
        let prefix = "#/components/schemas/"
        guard place.hasPrefix(prefix), case let part = place.dropFirst(prefix.count), !part.contains("/") else {
            return nil
        }
        return decoded(part)
    }

    /// Follows references to the last place.
    private func last(from reference: String, _ schemas: [String: JSONValue]) -> String {
        var place = reference
        for _ in 0..<ReferencedPlaces.longestChain {
            let value = ReferencedPlaces.schemaName(place).map { schemas[$0] } ?? values[place]
            guard let next = value?["$ref"]?.scalarText else { break }
            place = next
        }
        return place
    }

    private static func decoded(_ part: some StringProtocol) -> String {
        PercentEncoding.decode(String(part)).replacing("~1", with: "/").replacing("~0", with: "~")
    }

    /// The location of a place, and the parts of its pointer; nil for an anchor.
    private static func parts(of place: String) -> (location: String, pointer: [String])? {
        let parts = place.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let pointer = parts.count > 1 ? parts[1] : ""
        guard pointer.isEmpty || pointer.hasPrefix("/") else { return nil }
        let steps = pointer.isEmpty ? [] : pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        return (String(parts.first ?? ""), steps.map(decoded))
    }

    private static func value(at place: String, _ files: SpecificationFiles) -> JSONValue? {
        guard let (location, pointer) = parts(of: place), !(location.isEmpty && pointer.isEmpty) else { return nil }
        var value = location.isEmpty ? files.root : files.documents[location]
        for part in pointer {
            if case .array(let elements)? = value {
                value = Int(part).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
            } else {
                value = value?[part]
            }
        }
        return value
    }

    /// Returns a name for the schema at a place that no other schema has.
    private static func name(of place: String, _ taken: Set<String>) -> String {
        guard let (location, pointer) = parts(of: place) else { return place }
        var path = location.prefix { $0 != "?" }.split(separator: "/").map(String.init)
        if let file = path.popLast() {
            path.append(file.split(separator: ".").first.map(String.init) ?? file)
        }
        // From the last part outwards, and the name of the file before its folders.
        let parts = (path + pointer).reversed().filter { !unspecific.contains($0) && $0 != ".." && !$0.isEmpty }
        var name = parts.first ?? "schema"
        for outer in parts.dropFirst() where taken.contains(name) { name = outer + " " + name }
        guard taken.contains(name) else { return name }
        var number = 2
        while taken.contains("\(name) \(number)") { number += 1 }
        return "\(name) \(number)"
    }
}

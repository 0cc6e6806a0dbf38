// A validator for the part of JSON Schema (draft 2020-12) that the schema of descriptions uses.

import Foundation

/// A JSON Schema. Keywords that it does not know are errors, so that none is ignored.
struct JSONSchema {
    let root: [String: Any]

    init(_ text: String) throws {
        root = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
    }

    private static let annotations: Set = ["$schema", "$id", "$defs", "title", "description"]

    /// The problems of a value, each with its path.
    func problems(of value: Any, _ schema: [String: Any]? = nil, at path: String = "") -> [String] {
        let schema = schema ?? root
        var problems: [String] = []
        for (keyword, argument) in schema where !JSONSchema.annotations.contains(keyword) {
            switch keyword {
            case "$ref": problems += self.problems(of: value, resolve(argument), at: path)
            case "type":
                let types = argument as? [String] ?? [argument as? String ?? ""]
                if !types.contains(where: { JSONSchema.isOf($0, value) }) { problems.append("\(path): not \(types)") }
            case "enum":
                let words = argument as? [String] ?? []
                if !words.contains(where: { $0 == value as? String }) { problems.append("\(path): none of \(words)") }
            case "pattern":
                guard let text = value as? String, let pattern = argument as? String else { break }
                if text.range(of: pattern, options: .regularExpression) == nil {
                    problems.append("\(path): does not match \(pattern)")
                }
            case "minimum":
                if let number = value as? NSNumber, let minimum = argument as? NSNumber,
                    number.doubleValue < minimum.doubleValue
                {
                    problems.append("\(path): less than \(minimum)")
                }
            case "required":
                guard let object = value as? [String: Any] else { break }
                for name in argument as? [String] ?? [] where object[name] == nil {
                    problems.append("\(path): lacks \(name)")
                }
            case "properties", "additionalProperties": break
            case "items":
                for (index, element) in (value as? [Any] ?? []).enumerated() {
                    problems += self.problems(of: element, argument as? [String: Any] ?? [:], at: "\(path)[\(index)]")
                }
            case "anyOf":
                let branches = (argument as? [[String: Any]] ?? []).map { self.problems(of: value, $0, at: path) }
                if let least = branches.min(by: { $0.count < $1.count }), !least.isEmpty { problems += least }
            case "not":
                if self.problems(of: value, argument as? [String: Any] ?? [:], at: path).isEmpty {
                    problems.append("\(path): what must not be")
                }
            default: problems.append("\(path): unknown keyword \(keyword)")
            }
        }
        return problems + members(of: value, schema, path)
    }

    private func members(of value: Any, _ schema: [String: Any], _ path: String) -> [String] {
        guard let object = value as? [String: Any] else { return [] }
        let properties = schema["properties"] as? [String: [String: Any]] ?? [:]
        return object.flatMap { name, member -> [String] in
            let inner = path.isEmpty ? name : "\(path).\(name)"
            if let property = properties[name] { return problems(of: member, property, at: inner) }
            if let other = schema["additionalProperties"] as? [String: Any] {
                return problems(of: member, other, at: inner)
            }
            return schema["additionalProperties"] as? Bool == false ? ["\(inner): unknown key"] : []
        }
    }

    private func resolve(_ reference: Any) -> [String: Any] {
        let name = (reference as? String)?.split(separator: "/").last.map(String.init) ?? ""
        return (root["$defs"] as? [String: [String: Any]])?[name] ?? ["unresolved": reference]
    }

    private static func isOf(_ type: String, _ value: Any) -> Bool {
        switch value {
        case is NSNull: type == "null"
        case is String: type == "string"
        case is [Any]: type == "array"
        case is [String: Any]: type == "object"
        case let number as NSNumber:
            // A boolean is a number for Foundation, too.
            CFBooleanLike.isBoolean(number)
                ? type == "boolean"
                : type == "number" || type == "integer" && number.doubleValue == number.doubleValue.rounded()
        default: false
        }
    }

    private enum CFBooleanLike {
        static func isBoolean(_ number: NSNumber) -> Bool { String(cString: number.objCType) == "c" }
    }

    // MARK: Mappings with fixed keys

    /// A mapping with fixed keys, named by its location in the schema.
    struct Mapping {
        var pointer: String
        var keys: Set<String>
    }

    /// Every mapping with fixed keys in the schema.
    var mappings: [Mapping] { mappings(in: root, "#") }

    private func mappings(in schema: [String: Any], _ pointer: String) -> [Mapping] {
        var found: [Mapping] = []
        if let properties = schema["properties"] as? [String: [String: Any]], JSONSchema.isFixed(schema) {
            found.append(Mapping(pointer: pointer, keys: Set(properties.keys)))
            found += properties.flatMap { mappings(in: $1, "\(pointer)/properties/\($0)") }
        }
        for keyword in ["items", "additionalProperties"] {
            if let inner = schema[keyword] as? [String: Any] { found += mappings(in: inner, "\(pointer)/\(keyword)") }
        }
        for (index, branch) in (schema["anyOf"] as? [[String: Any]] ?? []).enumerated() {
            found += mappings(in: branch, "\(pointer)/anyOf/\(index)")
        }
        for (name, definition) in schema["$defs"] as? [String: [String: Any]] ?? [:] {
            found += mappings(in: definition, "\(pointer)/$defs/\(name)")
        }
        return found
    }

    /// The mappings with fixed keys that a dotted path of a description may be.
    func mappings(at path: String) -> [Mapping] {
        var nodes: [(schema: [String: Any], pointer: String)] = expand(root, "#")
        var parts = path.isEmpty ? [] : path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        parts = parts.flatMap { part in
            part.firstIndex(of: "[").map { [String(part[..<$0]), "[]"] } ?? [part]
        }
        for part in parts {
            nodes = nodes.flatMap { node -> [(schema: [String: Any], pointer: String)] in
                if part == "[]" {
                    return (node.schema["items"] as? [String: Any]).map { expand($0, node.pointer + "/items") } ?? []
                }
                if let property = (node.schema["properties"] as? [String: [String: Any]])?[part] {
                    return expand(property, "\(node.pointer)/properties/\(part)")
                }
                // A name may have dots: the mapping of the names stays for further parts.
                return (node.schema["additionalProperties"] as? [String: Any]).map {
                    expand($0, node.pointer + "/additionalProperties") + [node]
                } ?? []
            }
        }
        return nodes.compactMap { node in
            guard JSONSchema.isFixed(node.schema) else { return nil }
            return (node.schema["properties"] as? [String: Any]).map {
                Mapping(pointer: node.pointer, keys: Set($0.keys))
            }
        }
    }

    private static func isFixed(_ schema: [String: Any]) -> Bool { schema["additionalProperties"] as? Bool == false }

    private func expand(_ schema: [String: Any], _ pointer: String) -> [(schema: [String: Any], pointer: String)] {
        var found = [(schema, pointer)]
        if let reference = schema["$ref"] as? String { found += expand(resolve(reference), reference) }
        for (index, branch) in (schema["anyOf"] as? [[String: Any]] ?? []).enumerated() {
            found += expand(branch, "\(pointer)/anyOf/\(index)")
        }
        return found
    }
}

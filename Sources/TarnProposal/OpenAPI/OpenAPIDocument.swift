// An OpenAPI document: JSON or YAML, with references resolved on demand.

import Tarn
import TarnDescription
import Yams

/// An OpenAPI 3.0 or 3.1 document.
package struct OpenAPIDocument: Sendable {
    /// The name of the file or the URL, for comments.
    package let name: String
    let root: JSONValue
    /// The schemas of the components by name: there may be many, and most references are to them.
    let schemas: [String: JSONValue]
    /// The URL of the document, to which server URLs are relative; nil for a file.
    let url: String?

    /// The maximum size of a document, in bytes.
    private static let sizeLimit = 32 << 20
    /// The maximum number of values of a document in YAML, aliases included.
    private static let valueLimit = 2_000_000
    private static let depthLimit = 100

    /// Parses a document.
    ///
    /// - Throws: `SampleError.specification` if it is neither JSON nor YAML, or no OpenAPI 3.
    package init(_ body: [UInt8], name: String, url: String? = nil) throws(SampleError) {
        self.name = name
        self.url = url
        guard body.count <= OpenAPIDocument.sizeLimit else {
            throw .specification(name, reason: "larger than 32 MiB: not an OpenAPI document")
        }
        guard let text = String(validating: body, as: UTF8.self) else {
            throw .specification(name, reason: "not valid UTF-8")
        }
        root =
            body.first { $0 > 0x20 } == UInt8(ascii: "{")
            ? try OpenAPIDocument.json(text, name) : try OpenAPIDocument.yaml(text, name)
        schemas = OpenAPIDocument.schemas(in: root)
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

    private static func json(_ text: String, _ name: String) throws(SampleError) -> JSONValue {
        do throws(ImportError) { return try JSONValue(text) } catch {
            throw .specification(name, reason: "not valid JSON: \(error)")
        }
    }

    private static func yaml(_ text: String, _ name: String) throws(SampleError) -> JSONValue {
        // An alias in a key takes exponential time in the parser, before anything can be counted.
        if let line = YAMLDocument.lineOfAliasInKey(text) {
            throw .specification(name, reason: "line \(line): an alias (*name) in a key is not supported")
        }
        let node: Node?
        do { node = try Yams.compose(yaml: text) } catch {
            throw .specification(name, reason: "not valid YAML: \(YAMLText.comment("\(error)", limit: 200))")
        }
        guard let node else { throw .specification(name, reason: "the document is empty") }
        var count = 0
        guard let value = value(node, depth: 0, &count) else {
            throw .specification(name, reason: "too many values, or nested too deep")
        }
        return value
    }

    private static func value(_ node: Node, depth: Int, _ count: inout Int) -> JSONValue? {
        count += 1
        guard count <= valueLimit, depth <= depthLimit else { return nil }
        switch node {
        case .scalar(let scalar):
            guard scalar.style == .plain else { return .string(scalar.string) }
            switch scalar.string {
            case "true", "True", "TRUE": return .bool(true)
            case "false", "False", "FALSE": return .bool(false)
            case "null", "Null", "NULL", "~", "": return .null
            default:
                return Double(scalar.string)?.isFinite == true && scalar.string.utf8.count <= 40
                    ? .number(scalar.string) : .string(scalar.string)
            }
        case .sequence(let sequence):
            var values: [JSONValue] = []
            for element in sequence {
                guard let value = value(element, depth: depth + 1, &count) else { return nil }
                values.append(value)
            }
            return .array(values)
        case .mapping(let mapping):
            var members: [JSONValue.Member] = []
            for (key, element) in mapping {
                guard let value = value(element, depth: depth + 1, &count) else { return nil }
                members.append(JSONValue.Member(key.scalar?.string ?? "", value))
            }
            return .object(members)
        case .alias: return nil
        }
    }

    // MARK: References

    /// Returns the value that a reference leads to, through further references.
    ///
    /// - Returns: the value and the name of the last reference's target, such as `Pet`; nil for a
    ///   reference to another document, or to nothing.
    func resolve(_ value: JSONValue) -> (value: JSONValue, name: String?)? {
        var value = value, name: String?
        for _ in 0..<32 {
            guard let reference = value["$ref"]?.scalarText else { return (value, name) }
            guard reference.hasPrefix("#/") else { return nil }
            var target = root
            let parts = reference.dropFirst(2).split(separator: "/", omittingEmptySubsequences: false)
            let isSchema = parts.count == 3 && parts[0] == "components" && parts[1] == "schemas"
            for part in isSchema ? parts.suffix(1) : parts[...] {
                let key = PercentEncoding.decode(String(part)).replacing("~1", with: "/").replacing("~0", with: "~")
                guard let next = isSchema ? schemas[key] : target[key] else { return nil }
                target = next
                name = key
            }
            value = target
        }
        return nil
    }
}

extension JSONValue {
    /// The members of an object; empty for other values.
    var members: [Member] { if case .object(let members) = self { members } else { [] } }
    /// The elements of a list; empty for other values.
    var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
}

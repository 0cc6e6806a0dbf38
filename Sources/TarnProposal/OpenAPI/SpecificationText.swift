// The text of a specification's document, in JSON or YAML, as a value.

import Tarn
import TarnDescription
import Yams

/// Parses the documents of a specification, within limits for all of them together.
struct SpecificationText {
    /// The maximum size of the documents, in bytes.
    private static let sizeLimit = 32 << 20
    /// The maximum number of values of the documents in YAML, aliases included.
    private static let valueLimit = 2_000_000
    private static let depthLimit = 100

    private var size = 0
    private var values = 0

    /// Parses a document.
    ///
    /// - Throws: `SampleError.specification` if it is neither JSON nor YAML, or beyond a limit.
    mutating func parse(_ body: [UInt8], name: String) throws(SampleError) -> JSONValue {
        guard body.count <= SpecificationText.sizeLimit - size else {
            throw .specification(name, reason: "larger than 32 MiB, the limit of a specification with its documents")
        }
        size += body.count
        guard let text = String(validating: body, as: UTF8.self) else {
            throw .specification(name, reason: "not valid UTF-8")
        }
        guard body.first(where: { $0 > 0x20 }) != UInt8(ascii: "{") else {
            do throws(ImportError) { return try JSONValue(text) } catch {
                throw .specification(name, reason: "not valid JSON: \(error)")
            }
        }
        return try yaml(text, name)
    }

    private mutating func yaml(_ text: String, _ name: String) throws(SampleError) -> JSONValue {
        // An alias in a key takes exponential time in the parser, before anything can be counted.
        if let line = YAMLDocument.lineOfAliasInKey(text) {
            throw .specification(name, reason: "line \(line): an alias (*name) in a key is not supported")
        }
        let node: Node?
        do { node = try Yams.compose(yaml: text) } catch {
            throw .specification(name, reason: "not valid YAML: \(YAMLText.comment("\(error)", limit: 200))")
        }
        guard let node else { throw .specification(name, reason: "the document is empty") }
        guard let value = value(node, depth: 0) else {
            throw .specification(name, reason: "too many values, or nested too deep")
        }
        return value
    }

    private mutating func value(_ node: Node, depth: Int) -> JSONValue? {
        values += 1
        guard values <= SpecificationText.valueLimit, depth <= SpecificationText.depthLimit else { return nil }
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
                guard let value = value(element, depth: depth + 1) else { return nil }
                values.append(value)
            }
            return .array(values)
        case .mapping(let mapping):
            var members: [JSONValue.Member] = [], merged: [JSONValue] = []
            for (key, element) in mapping {
                guard let value = value(element, depth: depth + 1) else { return nil }
                if let scalar = key.scalar, scalar.string == "<<", scalar.style == .plain {
                    merged += value.isObject ? [value] : value.elements
                } else {
                    members.append(JSONValue.Member(key.scalar?.string ?? "", value))
                }
            }
            // Own keys win, then those of the mappings that are named first.
            var names = Set(members.map(\.key))
            for member in merged.flatMap(\.members) where names.insert(member.key).inserted { members.append(member) }
            return .object(members)
        case .alias: return nil
        }
    }
}

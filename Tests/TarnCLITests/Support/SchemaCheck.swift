// A validator for the keywords of JSON Schema that the project's schemas use.

import Foundation

/// The problems of a JSON value by a schema; every keyword that is not known is a problem, too.
struct SchemaCheck {
    let schema: [String: Any]

    init(_ text: String) throws {
        schema = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
    }

    func problems(_ value: Any) -> [String] { problems(value, schema, "$") }

    private func problems(_ value: Any, _ schema: [String: Any], _ path: String) -> [String] {
        var found: [String] = []
        for (keyword, rule) in schema {
            switch keyword {
            case "$schema", "$id", "$defs", "$comment", "title", "description", "format": break
            case "$ref":
                let name = (rule as? String ?? "").replacing("#/$defs/", with: "")
                guard let definition = (self.schema["$defs"] as? [String: Any])?[name] as? [String: Any] else {
                    found.append("\(path): unknown \(name)")
                    continue
                }
                found += problems(value, definition, path)
            case "oneOf":
                let all = (rule as? [[String: Any]] ?? []).map { problems(value, $0, path) }
                if all.count(where: \.isEmpty) != 1 {
                    found.append("\(path): not one of \(all.count): \(all.min { $0.count < $1.count } ?? [])")
                }
            case "const": if !isEqual(value, rule) { found.append("\(path): not \(rule)") }
            case "enum":
                if !(rule as? [Any] ?? []).contains(where: { isEqual(value, $0) }) {
                    found.append("\(path): not in \(rule)")
                }
            case "type": if !isType(value, rule as? String ?? "") { found.append("\(path): not \(rule): \(value)") }
            case "minimum":
                if let number = value as? Double, let least = rule as? Double, number < least {
                    found.append("\(path): below \(least)")
                }
            case "required":
                let members = value as? [String: Any] ?? [:]
                for name in rule as? [String] ?? [] where members[name] == nil { found.append("\(path): no \(name)") }
            case "properties":
                let members = value as? [String: Any] ?? [:], rules = rule as? [String: [String: Any]] ?? [:]
                for (name, member) in members {
                    guard let rule = rules[name] else {
                        if schema["additionalProperties"] == nil { found.append("\(path): undocumented \(name)") }
                        continue
                    }
                    found += problems(member, rule, "\(path).\(name)")
                }
            case "additionalProperties":
                for (name, member) in value as? [String: Any] ?? [:] {
                    found += problems(member, rule as? [String: Any] ?? [:], "\(path).\(name)")
                }
            case "items":
                for (index, item) in (value as? [Any] ?? []).enumerated() {
                    found += problems(item, rule as? [String: Any] ?? [:], "\(path)[\(index)]")
                }
            default: found.append("unknown keyword \(keyword)")
            }
        }
        return found
    }

    private func isEqual(_ a: Any, _ b: Any) -> Bool { (a as? NSObject) == (b as? NSObject) }

    private func isType(_ value: Any, _ type: String) -> Bool {
        let number = value as? NSNumber
        let isBoolean = number.map { String(cString: $0.objCType) == "c" } ?? false
        return switch type {
        case "object": value is [String: Any]
        case "array": value is [Any]
        case "string": value is String
        case "boolean": isBoolean
        case "integer": !isBoolean && number.map { Double($0.int64Value) == $0.doubleValue } ?? false
        case "number": !isBoolean && number != nil
        default: false
        }
    }
}

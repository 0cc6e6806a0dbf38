import SwiftSyntax
import SwiftSyntaxBuilder

// The declaration of a record: its fields in the schema, its mapping, its parent.
extension RecordSyntax {
    var declaredMembers: [DeclSyntax] {
        var members = [declarations, mapping]
        if let parent = attribute.argument("parent") {
            members.append(
                "\(raw: access)static var parent: (any TypedRecord.Type)? { \(parent.trimmed) }")
        }
        if let compression = attribute.argument("compression") {
            members.append(
                "\(raw: access)static var compression: EntityDefinition.Compression { \(compression.trimmed) }")
        }
        return members
    }

    private var declarations: DeclSyntax {
        let fields = properties.compactMap(\.fieldDeclaration).joined(separator: ",\n")
        return """
            \(raw: access)static var fields: [FieldDeclaration] {
            [\(raw: fields)]
            }
            """
    }

    private var mapping: DeclSyntax {
        let sources = fields.filter { !$0.sources.isEmpty }.map { field in
            "\"\(field.name)\": [\(field.sources.map(\.trimmedDescription).joined(separator: ", "))]"
        }
        let rules = fields.compactMap { field in
            field.declaration?.argument("rules").map { "\"\(field.name)\": \($0.trimmedDescription)" }
        }
        var arguments: [String] = []
        if !sources.isEmpty { arguments.append("paths: [\(sources.joined(separator: ", "))]") }
        if !rules.isEmpty { arguments.append("fields: [\(rules.joined(separator: ", "))]") }
        var urls = attribute.argument("url").map { ["mapping.url = \($0.trimmedDescription)\n"] } ?? []
        urls += properties.compactMap { field in
            field.declaration?.argument("by").map {
                "mapping.referenceURLs[\"\(field.name)\"] = \($0.trimmedDescription)\n"
            }
        }
        return """
            \(raw: access)static var mapping: EntityMapping {
                var mapping = EntityMapping(\(raw: arguments.joined(separator: ", ")))
                \(raw: urls.joined())configure(&mapping)
                return mapping
            }
            """
    }
}

extension FieldSyntax {
    /// The declaration of the field in the schema; nil if the other side declares it.
    fileprivate var fieldDeclaration: String? {
        var arguments = ["\"\(name)\"", "(\(storedType)).self"]
        func add(_ label: String, _ value: ExprSyntax?) {
            if let value { arguments.append("\(label): \(value.trimmedDescription)") }
        }
        switch kind {
        case .attribute:
            if !isCodable { add("as", declaration?.argument("type")) }
            if isKey { arguments.append("isKey: true") }
            if let index {
                let options = index.arguments.map { $0.trimmedDescription } ?? ""
                arguments.append("index: .init(\(options))")
            }
            add("default", defaultValue)
            add("renamedFrom", declaration?.argument("renamedFrom"))
            return ".attribute(\(arguments.joined(separator: ", ")))"
        case .toOne:
            if isKey { arguments.append("isKey: true") }
            if let inverse { arguments.append("inverse: \"\(inverse)\"") }
            add("onDelete", declaration?.argument("onDelete"))
            add("renamedFrom", declaration?.argument("renamedFrom"))
            return ".toOne(\(arguments.joined(separator: ", ")))"
        case .toMany:
            add("ordered", declaration?.argument("ordered"))
            if let inverse { arguments.append("inverse: \"\(inverse)\"") }
            add("onDelete", declaration?.argument("onDelete"))
            add("renamedFrom", declaration?.argument("renamedFrom"))
            return ".toMany(\(arguments.joined(separator: ", ")))"
        case .inverse:
            guard let inverse else { return nil }
            let rule = declaration?.argument("onDelete")?.trimmedDescription ?? ".none"
            return ".inverse(\(arguments.joined(separator: ", ")), of: \"\(inverse)\", onDelete: \(rule))"
        }
    }
}

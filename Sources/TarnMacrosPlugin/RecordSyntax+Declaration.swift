import SwiftSyntax
import SwiftSyntaxBuilder

// The declaration of a record: its fields in the schema, its mapping, its parent.
extension RecordSyntax {
    var declaredMembers: [DeclSyntax] {
        var members = [declarations, mapping]
        if let parent = attribute.argument("parent") {
            members.append(
                "\(raw: access)static var parent: (any Tarn.TypedRecord.Type)? { \(parent.trimmed) }")
        }
        if let compression = attribute.argument("compression"), !compression.isNil {
            members.append(
                "\(raw: access)static var compression: Tarn.EntityDefinition.Compression { \(compression.trimmed) }")
        }
        return members
    }

    private var declarations: DeclSyntax {
        let fields = properties.map(\.fieldDeclaration).joined(separator: ",\n")
        return """
            \(raw: access)static var fields: [Tarn.FieldDeclaration] {
            [\(raw: fields)]
            }
            """
    }

    private var mapping: DeclSyntax {
        let sources = fields.filter { !$0.sources.isEmpty }.map { field in
            "\"\(field.name)\": [\(field.sources.map(\.trimmedDescription).joined(separator: ", "))]"
        }
        let rules = fields.compactMap { field in
            field.declaration?.argument("rules").flatMap { rules in
                rules.isNil ? nil : "\"\(field.name)\": \(rules.trimmedDescription)"
            }
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
            \(raw: access)static var mapping: Tarn.EntityMapping {
                var mapping = Tarn.EntityMapping(\(raw: arguments.joined(separator: ", ")))
                \(raw: urls.joined())configure(&mapping)
                return mapping
            }
            """
    }
}

extension FieldSyntax {
    /// The declaration of the field in the schema.
    fileprivate var fieldDeclaration: String {
        var arguments = ["\"\(name)\"", "(\(storedType)).self"]
        func add(_ label: String, _ value: ExprSyntax?) {
            if let value { arguments.append("\(label): \(value.trimmedDescription)") }
        }
        func addIndex() {
            guard let index else { return }
            arguments.append("index: .init(\(index.arguments.map { $0.trimmedDescription } ?? ""))")
        }
        switch kind {
        case .attribute:
            if !isCodable { add("as", declaration?.argument("type")) }
            if isKey { arguments.append("isKey: true") }
            addIndex()
            if let storedDefault { arguments.append("default: \(storedDefault)") }
            add("renamedFrom", declaration?.argument("renamedFrom"))
            return ".attribute(\(arguments.joined(separator: ", ")))"
        case .toOne:
            if isKey { arguments.append("isKey: true") }
            addIndex()
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
            if let inverse { arguments.append("of: \"\(inverse)\"") }
            add("onDelete", declaration?.argument("onDelete"))
            return ".inverse(\(arguments.joined(separator: ", ")))"
        }
    }
}

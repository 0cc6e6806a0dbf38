import SwiftSyntax
import SwiftSyntaxBuilder

// The types that are added to a record: its fields, its columns, its key.
extension RecordSyntax {
    var members: [DeclSyntax] { [fieldEnum, columns] + (key.map { [$0] } ?? []) + declaredMembers }

    /// The fields as an enumeration. Names are texts, since reflection is slow.
    private var fieldEnum: DeclSyntax {
        let cases = fields.map(\.identifier).joined(separator: ", ")
        let names = fields.map { "case .\($0.identifier): \"\($0.name)\"" }.joined(separator: "\n")
        return """
            \(raw: access)enum Field: Int, RecordField {
                case \(raw: cases)
                \(raw: access)var name: String {
                    switch self {
                    \(raw: names)
                    }
                }
            }
            """
    }

    private var columns: DeclSyntax {
        let columns = properties.map { "\(access)var \($0.identifier): \($0.column)" }.joined(separator: "\n")
        return """
            \(raw: access)struct Columns: RecordColumns {
                \(raw: access)let path: ColumnPath
                \(raw: access)init(path: ColumnPath) { self.path = path }
                \(raw: columns)
            }
            """
    }

    /// The type of keys: that of the one key property, or a struct of several.
    private var key: DeclSyntax? {
        let keys = keys
        guard let first = keys.first else {
            guard let parent = attribute.argument("parent")?.as(MemberAccessExprSyntax.self)?.base else { return nil }
            return "\(raw: access)typealias Key = \(raw: parent.trimmedDescription).Key"
        }
        guard keys.count > 1 else { return "\(raw: access)typealias Key = \(raw: first.keyType)" }
        let properties = keys.map { "\(access)var \($0.identifier): \($0.keyType)" }.joined(separator: "\n")
        let parameters = keys.map { "\($0.identifier): \($0.keyType)" }.joined(separator: ", ")
        let assignments = keys.map { "self.\($0.identifier) = \($0.identifier)" }.joined(separator: "\n")
        let taken = keys.map { "let \($0.identifier) = parts.next(\($0.keyType).self)" }.joined(separator: ", ")
        let arguments = keys.map { "\($0.identifier): \($0.identifier)" }.joined(separator: ", ")
        let names = keys.map(\.identifier).joined(separator: ", ")
        let counts = keys.map { "\($0.keyType).componentCount" }.joined(separator: " + ")
        return """
            \(raw: access)struct Key: StoredKey {
                \(raw: properties)
                \(raw: access)init(\(raw: parameters)) {
                    \(raw: assignments)
                }
                \(raw: access)init?(_ key: RecordKey) {
                    var parts = KeyParts(key)
                    guard \(raw: taken), parts.isEmpty else { return nil }
                    self.init(\(raw: arguments))
                }
                \(raw: access)var recordKey: RecordKey { RecordKey(parts: \(raw: names)) }
                \(raw: access)static var componentCount: Int { \(raw: counts) }
            }
            """
    }
}

extension FieldSyntax {
    /// The type and the value of the field's column.
    fileprivate var column: String {
        switch kind {
        case .attribute: "Column<\(storedType)> { Column(path, \"\(name)\") }"
        case .toOne(let target): "ToOneColumn<\(target)> { ToOneColumn(path, \"\(name)\") }"
        case .toMany(let target), .inverse(let target): "ToManyColumn<\(target)> { ToManyColumn(path, \"\(name)\") }"
        }
    }

    /// The type of the field as a part of a key: a reference is the key of its target.
    fileprivate var keyType: String {
        if case .toOne(let target) = kind { return "\(target).Key" }
        return type.unwrapped.trimmedDescription
    }
}

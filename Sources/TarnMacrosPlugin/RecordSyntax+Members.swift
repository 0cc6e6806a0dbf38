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
            \(raw: access)enum Field: Swift.Int, Tarn.RecordField {
                case \(raw: cases)
                \(raw: access)var name: Swift.String {
                    switch self {
                    \(raw: names)
                    }
                }
                \(raw: expressions.joined(separator: "\n"))
            }
            """
    }

    /// The members of `Field` with the expressions of the declaration that its extension needs: it
    /// is outside of the types around the struct, so their names are unknown there.
    private var expressions: [String] {
        var members = fields.compactMap { field in
            field.defaultValue.map { value in
                let type = TypeSyntax(stringLiteral: field.storedType).written(in: type)
                let content = value.trimmed.written(in: self.type)
                let stored = field.isCodable ? "Tarn.StoredJSON(\(content))" : content
                return "fileprivate static var `_tarnDefault_\(field.name)`: \(type) { \(stored) }"
            }
        }
        if let entity = computedEntity {
            members.append("fileprivate static var _tarnEntity: Swift.String { \(entity.trimmed.written(in: type)) }")
        }
        return members
    }

    private var columns: DeclSyntax {
        let columns = properties.map { "\(access(of: $0))var \($0.identifier): \($0.column(in: type))" }
            .joined(separator: "\n")
        return """
            \(raw: access)struct Columns: Tarn.RecordColumns {
                private let _columnPath: Tarn.ColumnPath
                \(raw: access)init(path: Tarn.ColumnPath) { self._columnPath = path }
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
        let taken = keys.map { "let \($0.identifier) = _parts.next(\($0.keyType).self)" }.joined(separator: ", ")
        let arguments = keys.map { "\($0.label): \($0.identifier)" }.joined(separator: ", ")
        let names = keys.map(\.identifier).joined(separator: ", ")
        let counts = keys.map { "\($0.keyType).componentCount" }.joined(separator: " + ")
        return """
            \(raw: access)struct Key: Tarn.StoredKey {
                \(raw: properties)
                \(raw: access)init(\(raw: parameters)) {
                    \(raw: assignments)
                }
                \(raw: access)init?(_ _key: Tarn.RecordKey) {
                    var _parts = Tarn.KeyParts(_key)
                    guard \(raw: taken), _parts.isEmpty else { return nil }
                    self.init(\(raw: arguments))
                }
                \(raw: access)var recordKey: Tarn.RecordKey { Tarn.RecordKey(parts: \(raw: names)) }
                \(raw: access)static var componentCount: Swift.Int { \(raw: counts) }
            }
            """
    }
}

extension FieldSyntax {
    /// The type and the value of the field's column.
    ///
    /// - Parameter record: the name of the struct, which `Self` does not denote there.
    fileprivate func column(in record: String) -> String {
        let written =
            kind == .attribute
            ? TypeSyntax(stringLiteral: storedType).written(in: record)
            : type.unwrapped.firstArgumentType?.trimmed.written(in: record) ?? ""
        return switch kind {
        case .attribute: "Tarn.Column<\(written)> { Tarn.Column(_columnPath, \"\(name)\") }"
        case .toOne: "Tarn.ToOneColumn<\(written)> { Tarn.ToOneColumn(_columnPath, \"\(name)\") }"
        case .toMany, .inverse: "Tarn.ToManyColumn<\(written)> { Tarn.ToManyColumn(_columnPath, \"\(name)\") }"
        }
    }

    /// The type of the field as a part of a key: a reference is the key of its target.
    fileprivate var keyType: String {
        if case .toOne(let target) = kind { return "\(target).Key" }
        return type.unwrapped.trimmedDescription
    }
}

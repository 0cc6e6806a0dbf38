import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

// The problems of a record's declaration that are not those of a single field.
extension RecordSyntax {
    /// The types that the macro adds: they hide all other types of such a name.
    static let addedTypes: Set<String> = ["Field", "Columns", "Key"]

    /// Reports a private type around the struct, and a struct that is private in another type.
    ///
    /// The extension with the conformance is at the top of the file, where only those are visible
    /// that are private there.
    func checkAccess(_ context: some MacroExpansionContext) {
        guard !surroundings.isEmpty else { return }
        if declaration.modifiers.access == "private",
            let modifier = declaration.modifiers.first(where: { $0.name.text == "private" })?.name
        {
            context.report(
                .privateType(name, name), at: modifier,
                .replace("make it fileprivate", modifier, TokenSyntax.keyword(.fileprivate)))
        }
        for outer in surroundings.dropLast() {
            guard outer.asProtocol((any WithModifiersSyntax).self)?.modifiers.access == "private",
                let type = outer.asProtocol((any NamedDeclSyntax).self)?.name.text
            else { continue }
            // The nodes around the struct have no place in the source.
            context.report(.privateType(name, type), at: declaration.name)
        }
    }

    /// Reports types of properties that are hidden by those that the macro adds.
    func checkHiddenTypes(_ context: some MacroExpansionContext) {
        for member in declaration.memberBlock.members {
            let found = member.decl.asProtocol((any NamedDeclSyntax).self)
            guard let found, !member.decl.is(FunctionDeclSyntax.self),
                RecordSyntax.addedTypes.contains(found.name.text)
            else { continue }
            context.report(.reservedMember(found.name.text), at: found.name)
        }
        for field in properties {
            let unwrapped = field.type.unwrapped
            let value = field.kind == .attribute ? unwrapped.elementType?.unwrapped : unwrapped.firstArgumentType
            let used = value ?? unwrapped
            guard let name = used.as(IdentifierTypeSyntax.self)?.name.text, RecordSyntax.addedTypes.contains(name)
            else { continue }
            context.report(.hiddenType(field.name, type, name), at: field.type)
        }
    }

    /// Reports key paths to inverses in a record that refers to itself.
    ///
    /// The compiler reads a key path before it knows the conformance of the struct, which a
    /// reference to the struct needs. In some orders of declarations it then reports a missing
    /// conformance.
    func checkInverses(_ context: some MacroExpansionContext) {
        let refersToItself = fields.contains { field in
            switch field.kind {
            case .toOne(let target), .toMany(let target): target == type || target == "Self"
            case .attribute, .inverse: false
            }
        }
        guard refersToItself else { return }
        for field in properties {
            guard let path = field.declaration?.argument("inverse")?.as(KeyPathExprSyntax.self),
                let inverse = field.inverse
            else { continue }
            let name = StringLiteralExprSyntax(content: inverse)
            context.report(
                .keyPathOfCircle(type, inverse), at: path, .replace("use the name \"\(inverse)\"", path, name))
        }
    }

    /// The types in a declaration that do not make its values those of fields.
    private static let plainTypes: Set<String> = [
        "String", "Int", "Int64", "Codable", "Decodable", "Encodable", "Hashable", "Equatable", "Comparable",
        "Sendable", "CaseIterable", "Identifiable", "CustomStringConvertible",
    ]

    /// Reports fields of types that are declared inside of the struct, and cannot be stored so.
    func checkNestedTypes(_ context: some MacroExpansionContext) {
        for field in fields where field.kind == .attribute && !field.isCodable {
            let type = field.valueType
            guard let found = declaration.memberBlock.inheritedTypes(of: type.trimmedDescription),
                found.types.isSubset(of: RecordSyntax.plainTypes)
            else { continue }
            let shown = field.type.trimmedDescription
            if field.isKey, found.isEnum {
                context.report(.keyType(field.name, shown), at: field.type)
            } else if found.isEnum {
                context.report(
                    .nestedType(field.name, shown, "declare enum \(type): String, AttributeValue"), at: field.type)
            } else if !found.types.isDisjoint(with: ["Codable", "Decodable"]) {
                context.report(
                    .nestedType(field.name, shown, "keep it as JSON with @Attribute(type: .json)"), at: field.type)
            }
        }
    }

    /// Reports fields of private types that are declared inside of the struct, where columns, which
    /// the whole file can use, cannot have them.
    func checkPrivateTypes(_ context: some MacroExpansionContext) {
        for field in fields where field.kind == .attribute {
            let name = field.valueType.trimmedDescription
            let found = declaration.memberBlock.members.lazy.compactMap { member -> DeclModifierListSyntax? in
                let type = member.decl.asProtocol((any NamedDeclSyntax).self)
                guard type?.name.text == name else { return nil }
                return member.decl.asProtocol((any WithModifiersSyntax).self)?.modifiers
            }.first
            guard found?.access == "private", let modifier = found?.first(where: { $0.name.text == "private" })?.name
            else { continue }
            context.report(
                .privateValue(field.name, name), at: modifier,
                .replace("make it fileprivate", modifier, TokenSyntax.keyword(.fileprivate)))
        }
    }

    /// Reports a record without a key. The one right answer is a property `id`.
    func checkKey(_ context: some MacroExpansionContext) {
        if keys.count > 1 {
            for field in keys where ["recordKey", "componentCount", "hashValue"].contains(field.name) {
                context.report(.reservedInKey(field.name), at: field.property)
            }
        }
        guard keys.isEmpty, !hasParent else { return }
        guard let id = fields.first(where: { $0.name == "id" }) else {
            context.report(.noKey, at: declaration.name)
            return
        }
        let key = AttributeSyntax(attributeName: IdentifierTypeSyntax(name: .identifier("Key")))
            .with(\.leadingTrivia, id.property.leadingTrivia).with(\.trailingTrivia, .space)
        let marked = id.property.with(\.leadingTrivia, []).with(
            \.attributes, [.attribute(key)] + id.property.with(\.leadingTrivia, []).attributes)
        let fix = FixIt(
            message: RecordFixIt(message: "mark 'id' with @Key"),
            changes: [.replace(oldNode: Syntax(id.property), newNode: Syntax(marked))])
        context.report(.noKey, at: declaration.name, fix)
    }
}

extension FieldSyntax {
    /// The type of a value: of an optional and of a list, that in it.
    fileprivate var valueType: TypeSyntax {
        let unwrapped = type.unwrapped
        return unwrapped.elementType?.unwrapped ?? unwrapped
    }
}

extension MemberBlockSyntax {
    /// The names of the protocols and of the raw type that a struct or an enumeration is declared
    /// with, if it is a member; nil if there is no such member.
    fileprivate func inheritedTypes(of name: String) -> (types: Set<String>, isEnum: Bool)? {
        for member in members {
            let declaration = member.decl
            let found = declaration.as(StructDeclSyntax.self)?.name ?? declaration.as(EnumDeclSyntax.self)?.name
            guard found?.text == name else { continue }
            let clause = declaration.asProtocol((any DeclGroupSyntax).self)?.inheritanceClause
            let types = clause?.inheritedTypes.compactMap { $0.type.genericName } ?? []
            return (Set(types), declaration.is(EnumDeclSyntax.self))
        }
        return nil
    }
}

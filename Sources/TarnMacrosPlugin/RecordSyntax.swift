import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// A struct with `@Record`: its fields, and what the macro adds to it.
struct RecordSyntax {
    let attribute: AttributeSyntax
    let declaration: StructDeclSyntax
    /// The properties in the order of their declarations.
    let properties: [FieldSyntax]

    /// The name of the struct.
    var type: String { declaration.name.text }

    /// The properties that are fields of rows.
    var fields: [FieldSyntax] { properties.filter { !$0.isInverse } }

    var keys: [FieldSyntax] { fields.filter(\.isKey) }

    /// The access of added members: that of the struct, if others can see it.
    var access: String {
        let found = declaration.modifiers.map(\.name.text).first { ["public", "package", "open"].contains($0) }
        return found.map { $0 + " " } ?? ""
    }

    /// The access of a property's column: the lesser one of the struct and of the property.
    ///
    /// The type of the property need not be visible any further.
    func access(of field: FieldSyntax) -> String {
        let found = field.property.modifiers.map(\.name.text).first { ["public", "package"].contains($0) }
        guard let found, !access.isEmpty else { return "" }
        return access == "package " ? access : found + " "
    }

    /// Whether the compiler gives the struct an initializer with a parameter for each property.
    var hasMemberwiseInitializer: Bool {
        !declaration.memberBlock.members.contains { $0.decl.is(InitializerDeclSyntax.self) }
    }

    /// Whether the record has a parent, which declares its key.
    var hasParent: Bool {
        guard let parent = attribute.argument("parent") else { return false }
        return !parent.is(NilLiteralExprSyntax.self)
    }

    /// Reads a declaration; nil if it is not one of a record.
    init?(
        _ attribute: AttributeSyntax, _ declaration: some DeclGroupSyntax, _ context: some MacroExpansionContext
    ) {
        guard let declaration = declaration.as(StructDeclSyntax.self) else {
            context.report(.notAStruct(declaration.kindName), at: attribute)
            return nil
        }
        if let generic = declaration.genericParameterClause {
            context.report(.generic, at: generic)
            return nil
        }
        let name = declaration.name.text
        if RecordSyntax.nestedTypes.contains(name) { context.report(.reservedType(name), at: declaration.name) }
        declaration.memberBlock.checkConditions(context)
        self.attribute = attribute
        self.declaration = declaration
        properties = declaration.memberBlock.members.compactMap { member in
            member.decl.as(VariableDeclSyntax.self).flatMap { FieldSyntax($0, context) }
        }
    }

    /// The types that the macro adds: a record's own type of such a name would be hidden by them.
    private static let nestedTypes: Set<String> = ["Field", "Columns", "Key"]

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
            let unwrapped = field.type.unwrapped, type = unwrapped.elementType?.unwrapped ?? unwrapped
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

    /// Reports a record without a key. The one right answer is a property `id`.
    func checkKey(_ context: some MacroExpansionContext) {
        if keys.count > 1 {
            for field in keys where ["recordKey", "componentCount"].contains(field.name) {
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

extension DeclGroupSyntax {
    /// The kind of the declaration, for messages.
    fileprivate var kindName: String {
        switch kind {
        case .classDecl: "a class"
        case .enumDecl: "an enum"
        case .actorDecl: "an actor"
        case .protocolDecl: "a protocol"
        case .extensionDecl: "an extension"
        default: "none"
        }
    }
}

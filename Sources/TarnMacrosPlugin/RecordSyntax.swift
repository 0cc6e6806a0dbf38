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
    /// The declarations around the struct, the innermost first.
    let surroundings: [Syntax]

    /// The name of the struct as it is written in code, perhaps in backquotes.
    var type: String { declaration.name.text }

    /// The name of the struct.
    var name: String { type.filter { $0 != "`" } }

    /// The expression of the entity's name, which may have names of the types around the struct;
    /// nil for a literal, and for the name of the struct.
    var computedEntity: ExprSyntax? {
        attribute.unlabeled.flatMap { $0.isNil || $0.isPlainText ? nil : $0 }
    }

    /// The name of the entity as code.
    var entity: String {
        guard let written = attribute.unlabeled, !written.isNil else { return "\"\(name)\"" }
        return written.isPlainText ? written.trimmedDescription : "Field._tarnEntity"
    }

    /// The properties that are fields of rows.
    var fields: [FieldSyntax] { properties.filter { !$0.isInverse } }

    var keys: [FieldSyntax] { fields.filter(\.isKey) }

    /// The access of added members: that of the struct, if others can see it.
    ///
    /// A struct without a modifier has the access of the extension that it is declared in.
    var access: String {
        let found =
            declaration.modifiers.access ?? surroundings.first?.as(ExtensionDeclSyntax.self)?.modifiers.access
        guard let found, ["public", "package"].contains(found) else { return "" }
        return found + " "
    }

    /// The access of a property's column: the lesser one of the struct and of the property.
    ///
    /// The type of the property need not be visible any further.
    func access(of field: FieldSyntax) -> String {
        switch field.property.modifiers.access {
        // A `private` column could not be used outside of `Columns`.
        case "private", "fileprivate": "fileprivate "
        case let found? where found != "internal" && !access.isEmpty: access == "package " ? access : found + " "
        default: ""
        }
    }

    /// Whether the compiler gives the struct an initializer with a parameter for each property.
    var hasMemberwiseInitializer: Bool { !declaration.memberBlock.members.mayHaveInitializer }

    /// Whether the record has a parent, which declares its key.
    var hasParent: Bool {
        attribute.argument("parent").map { !$0.isNil } ?? false
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
        self.attribute = attribute
        self.declaration = declaration
        surroundings = context.lexicalContext
        let name = declaration.name.text.filter { $0 != "`" }
        if RecordSyntax.addedTypes.contains(name) { context.report(.reservedType(name), at: declaration.name) }
        declaration.memberBlock.checkConditions(context)
        properties = declaration.memberBlock.members.compactMap { member in
            member.decl.as(VariableDeclSyntax.self).flatMap { FieldSyntax($0, context) }
        }
    }
}

extension DeclModifierListSyntax {
    private static let levels: Set<String> = ["private", "fileprivate", "internal", "package", "public", "open"]

    /// The access that is written; nil if there is none. That of a setter, `private(set)`, is not
    /// meant.
    var access: String? {
        first { $0.detail == nil && DeclModifierListSyntax.levels.contains($0.name.text) }?.name.text
    }
}

extension MemberBlockItemListSyntax {
    /// Whether there is an initializer, perhaps inside of `#if`.
    fileprivate var mayHaveInitializer: Bool {
        contains { member in
            guard let conditions = member.decl.as(IfConfigDeclSyntax.self) else {
                return member.decl.is(InitializerDeclSyntax.self)
            }
            return conditions.clauses.contains { clause in
                guard case .decls(let members)? = clause.elements else { return false }
                return members.mayHaveInitializer
            }
        }
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

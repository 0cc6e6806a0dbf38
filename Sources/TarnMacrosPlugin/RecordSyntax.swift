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
        self.attribute = attribute
        self.declaration = declaration
        properties = declaration.memberBlock.members.compactMap { member in
            member.decl.as(VariableDeclSyntax.self).flatMap { FieldSyntax($0, context) }
        }
    }

    /// Reports a record without a key. The one right answer is a property `id`.
    func checkKey(_ context: some MacroExpansionContext) {
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

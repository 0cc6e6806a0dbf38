import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Relationship` with an inverse, which `RecordMacro` reads. It adds a function in which the
/// compiler checks the other side, given by a name or by a key path.
public struct RelationshipMacro: PeerMacro {
    public static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard try FieldMacro.expansion(of: node, providingPeersOf: declaration, in: context).isEmpty,
            let property = declaration.as(VariableDeclSyntax.self),
            let argument = node.argument("inverse"), !argument.is(NilLiteralExprSyntax.self),
            let field = FieldSyntax(property, CountingContext(context, reports: false)), let inverse = field.inverse,
            inverse.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
        else { return [] }
        let type: String
        let target: String
        switch field.kind {
        case .toOne(let name), .toMany(let name):
            (target, type) = (
                name,
                isOfChild(context) ? "Swift.PartialKeyPath<\(name)>" : "Swift.KeyPath<\(name), Tarn.Inverse<Self>>"
            )
        case .inverse(let name): (target, type) = (name, "Swift.PartialKeyPath<\(name)>")
        case .attribute: return []
        }
        let path = argument.is(KeyPathExprSyntax.self) ? argument.trimmedDescription : "\\\(target).`\(inverse)`"
        let name = context.makeUniqueName("inverse")
        return ["private static func \(name)() -> \(raw: type) { \(raw: path) }"]
    }

    /// Whether the record has a parent, to whose records the other side may lead.
    private static func isOfChild(_ context: some MacroExpansionContext) -> Bool {
        let record = context.lexicalContext.first?.asProtocol((any WithAttributesSyntax).self)?.attribute("Record")
        return record?.argument("parent").map { !$0.is(NilLiteralExprSyntax.self) } ?? false
    }
}

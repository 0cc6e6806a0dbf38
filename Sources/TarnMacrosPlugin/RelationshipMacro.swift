import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Relationship` with a name: `RecordMacro` reads it. It adds a function in which the compiler
/// checks the name of the other side.
public struct RelationshipMacro: PeerMacro {
    public static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard try FieldMacro.expansion(of: node, providingPeersOf: declaration, in: context).isEmpty,
            let property = declaration.as(VariableDeclSyntax.self),
            node.argument("inverse")?.is(StringLiteralExprSyntax.self) == true,
            let field = FieldSyntax(property, CountingContext(context, reports: false)), let inverse = field.inverse,
            inverse.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
        else { return [] }
        let type: String
        let target: String
        switch field.kind {
        case .toOne(let name), .toMany(let name): (target, type) = (name, "KeyPath<\(name), Inverse<Self>>")
        case .inverse(let name): (target, type) = (name, "PartialKeyPath<\(name)>")
        case .attribute: return []
        }
        let name = context.makeUniqueName("inverse")
        return ["private static func \(name)() -> \(raw: type) { \\\(raw: target).`\(raw: inverse)` }"]
    }
}

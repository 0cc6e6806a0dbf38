import SwiftSyntax
import SwiftSyntaxMacros

/// The attributes of properties, such as `@Key`: `RecordMacro` reads them, and they add nothing.
public struct FieldMacro: PeerMacro {
    public static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard declaration.is(VariableDeclSyntax.self) else {
            context.report(.notAProperty(node.name), at: node)
            return []
        }
        let parent = context.lexicalContext.first?.asProtocol((any WithAttributesSyntax).self)
        if parent?.attribute("Record") == nil { context.report(.outsideOfRecord(node.name), at: node) }
        return []
    }
}

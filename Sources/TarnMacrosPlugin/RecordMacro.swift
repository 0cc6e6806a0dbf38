import SwiftSyntax
import SwiftSyntaxMacros

/// `@Record`: adds the types that a record needs, and its conformance.
public struct RecordMacro {}

extension RecordMacro: MemberMacro {
    public static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        record(node, declaration, context, reports: true)?.members ?? []
    }
}

extension RecordMacro: ExtensionMacro {
    public static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        // The other expansion reports the problems of the declaration.
        guard let record = record(node, declaration, context, reports: false) else { return [] }
        return [try record.conformance(of: type)]
    }

    /// Reads the declaration; nil if it has a problem: what is added would be one more.
    private static func record(
        _ node: AttributeSyntax, _ declaration: some DeclGroupSyntax, _ context: some MacroExpansionContext,
        reports: Bool
    ) -> RecordSyntax? {
        let counting = CountingContext(context, reports: reports)
        let record = RecordSyntax(node, declaration, counting)
        record?.checkAccess(counting)
        record?.checkKey(counting)
        record?.checkHiddenTypes(counting)
        record?.checkNestedTypes(counting)
        record?.checkPrivateTypes(counting)
        // The record is added all the same: without it, each reference would be one more problem.
        if reports { record?.checkInverses(context) }
        return counting.problems == 0 ? record : nil
    }
}

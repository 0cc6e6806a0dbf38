import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// A context that counts errors, and passes problems on or not.
final class CountingContext<Context: MacroExpansionContext>: MacroExpansionContext {
    private let context: Context
    private let reports: Bool
    private(set) var problems = 0

    init(_ context: Context, reports: Bool) {
        self.context = context
        self.reports = reports
    }

    var lexicalContext: [Syntax] { context.lexicalContext }

    func makeUniqueName(_ name: String) -> TokenSyntax { context.makeUniqueName(name) }

    func diagnose(_ diagnostic: Diagnostic) {
        if diagnostic.diagMessage.severity == .error { problems += 1 }
        if reports { context.diagnose(diagnostic) }
    }

    func location(
        of node: some SyntaxProtocol, at position: PositionInSyntaxNode, filePathMode: SourceLocationFilePathMode
    ) -> AbstractSourceLocation? {
        context.location(of: node, at: position, filePathMode: filePathMode)
    }
}

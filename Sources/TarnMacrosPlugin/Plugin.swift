import SwiftCompilerPlugin
import SwiftSyntaxMacros

@main
struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [RecordMacro.self, FieldMacro.self, RelationshipMacro.self]
}

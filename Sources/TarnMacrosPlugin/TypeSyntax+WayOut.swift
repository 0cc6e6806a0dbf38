import SwiftSyntax

extension TypeSyntax {
    /// The types of the standard library and of Foundation that are taken for those of fields.
    private static let replacements: [String: String] = [
        "Float": "Double", "Float16": "Double", "Float32": "Double", "Float64": "Double", "CGFloat": "Double",
        "Int8": "Int", "Int16": "Int", "Int32": "Int", "UInt8": "Int", "UInt16": "Int", "UInt32": "Int",
        "UInt": "UInt64", "Int128": "ExactDecimal", "UInt128": "ExactDecimal", "Decimal": "ExactDecimal",
        "Substring": "String", "StaticString": "String",
    ]

    /// The advice for a type that is known not to be one of a field; nil for other types.
    var wayOut: String? {
        let json = "keep a Codable type as JSON with @Attribute(type: .json), or mark the property with @Transient"
        if self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self) { return "declare an optional, with ?" }
        if self.is(DictionaryTypeSyntax.self) || genericName == "Dictionary" { return json }
        if self.is(TupleTypeSyntax.self) || self.is(FunctionTypeSyntax.self) || self.is(SomeOrAnyTypeSyntax.self) {
            return json
        }
        if genericName == "Set", let element = firstArgument { return "use [\(element)], or References for records" }
        if let element = elementType {
            if element.unwrapped.genericName == "Reference", let target = element.unwrapped.firstArgument {
                return "use References<\(target)>"
            }
            if element.trimmedDescription == "UInt8" { return "use Data" }
            if element.unwrapped.element != nil { return json }
            return element.unwrapped.wayOut
        }
        guard let name = self.as(IdentifierTypeSyntax.self)?.name.text ?? moduleMember else { return nil }
        if name == "Any" || name == "AnyObject" { return json }
        if name == "Self" { return "a record refers to others by Reference" }
        return TypeSyntax.replacements[name].map { "use \($0)" }
    }

    /// The name of a type of the standard library or of Foundation that is written with its module.
    private var moduleMember: String? {
        guard let member = self.as(MemberTypeSyntax.self),
            ["Swift", "Foundation"].contains(member.baseType.trimmedDescription)
        else { return nil }
        return member.name.text
    }
}

extension SyntaxProtocol {
    /// The code as it is written outside of the record: with its name instead of `Self`.
    func written(in record: String) -> String {
        tokens(viewMode: .sourceAccurate).map { token in
            token.tokenKind == .keyword(.Self)
                ? token.with(\.tokenKind, .identifier(record)).description : token.description
        }.joined()
    }
}

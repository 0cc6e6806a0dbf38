import SwiftSyntax
import SwiftSyntaxMacros

/// A property of a record that is a field, or the name of a relationship that the other side
/// stores.
struct FieldSyntax {
    let property: VariableDeclSyntax
    /// The name as it is written in code, perhaps in backquotes.
    let identifier: String
    /// The type as it stands in the source, so that a problem is reported there.
    let type: TypeSyntax
    let kind: FieldKind
    let isKey: Bool
    /// Whether the property has an initial value.
    let hasValue: Bool
    let isConstant: Bool
    let index: AttributeSyntax?
    /// `@Attribute` or `@Relationship`.
    let declaration: AttributeSyntax?

    /// The name of the field.
    var name: String { identifier.filter { $0 != "`" } }

    /// Whether the property may have a property wrapper: an attribute with the name of a type.
    var isWrapped: Bool {
        property.attributes.contains { element in
            guard let attribute = element.as(AttributeSyntax.self) else { return false }
            return !attribute.isOfField && attribute.name.first?.isUppercase == true
        }
    }

    var isInverse: Bool { if case .inverse = kind { true } else { false } }

    /// The expression of the default value.
    var defaultValue: ExprSyntax? { declaration?.argument("default") }

    /// The expression of the default value in the type in the store: a member of `Field`.
    ///
    /// Such a member is inside of the types around the struct, whose names the value may have.
    var storedDefault: String? { defaultValue == nil ? nil : "Field.`_tarnDefault_\(name)`" }

    /// The sources in the JSON, as written.
    var sources: [ExprSyntax] { declaration?.arguments("from").map(\.expression) ?? [] }

    /// Whether a `Codable` value is kept as JSON.
    var isCodable: Bool {
        guard let stored = declaration?.argument("type")?.as(MemberAccessExprSyntax.self) else { return false }
        return stored.declName.baseName.text == "json" && type.unwrapped.genericName != "String"
    }

    /// The type of the values in the store.
    var storedType: String {
        guard isCodable else { return type.trimmedDescription }
        return "Tarn.StoredJSON<\(type.unwrapped.trimmedDescription)>" + (type.isOptional ? "?" : "")
    }

    /// The label of the property in calls: an identifier there is no keyword, but for a few.
    var label: String {
        let isPlain = name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } && name.first?.isNumber == false
        return isPlain && !["inout", "_"].contains(name) ? name : identifier
    }

    /// The name of the other side: a text, or the last name of a key path.
    var inverse: String? {
        guard let argument = declaration?.argument("inverse") else { return nil }
        if let text = argument.as(StringLiteralExprSyntax.self) { return text.representedLiteralValue }
        let last = argument.as(KeyPathExprSyntax.self)?.components.last?.component
        return last?.as(KeyPathPropertyComponentSyntax.self)?.declName.baseName.text.filter { $0 != "`" }
    }
}

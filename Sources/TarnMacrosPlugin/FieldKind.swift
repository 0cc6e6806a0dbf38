import SwiftSyntax

/// The kind of a field, by the type that its property is declared with.
enum FieldKind: Equatable {
    case attribute
    case toOne(target: String)
    case toMany(target: String)
    case inverse(target: String)

    /// Classifies a type, without its optional mark.
    init(_ type: TypeSyntax) {
        guard let name = type.genericName, let target = type.firstArgument else {
            self = .attribute
            return
        }
        switch name {
        case "Reference": self = .toOne(target: target)
        case "References": self = .toMany(target: target)
        case "Inverse": self = .inverse(target: target)
        default: self = .attribute
        }
    }
}

extension TypeSyntax {
    /// The type without `?`, `Optional` or parentheses.
    var unwrapped: TypeSyntax {
        if let wrapped { return wrapped.unwrapped }
        if let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1, let only = tuple.elements.first {
            return only.type.unwrapped
        }
        return trimmed
    }

    var isOptional: Bool { self.is(OptionalTypeSyntax.self) || genericName == "Optional" }

    /// The type of which an optional is one; nil for other types.
    var wrapped: TypeSyntax? {
        self.as(OptionalTypeSyntax.self)?.wrappedType ?? (genericName == "Optional" ? firstArgumentType : nil)
    }

    /// The last name of a type: `Reference` of `Tarn.Reference<User>`.
    var genericName: String? {
        self.as(IdentifierTypeSyntax.self)?.name.text ?? self.as(MemberTypeSyntax.self)?.name.text
    }

    var firstArgumentType: TypeSyntax? {
        let clause =
            self.as(IdentifierTypeSyntax.self)?.genericArgumentClause
            ?? self.as(MemberTypeSyntax.self)?.genericArgumentClause
        guard case .type(let type)? = clause?.arguments.first?.argument else { return nil }
        return type
    }

    var firstArgument: String? { firstArgumentType?.trimmedDescription }

    /// The element of a list: `User` of `[User]`.
    var element: String? { elementType?.trimmedDescription }

    var elementType: TypeSyntax? {
        if let array = self.as(ArrayTypeSyntax.self) { return array.element }
        return genericName == "Array" ? firstArgumentType : nil
    }
}

extension ExprSyntax {
    /// Whether it is `nil`: an argument that is the same as none.
    var isNil: Bool { self.is(NilLiteralExprSyntax.self) }

    /// Whether it is the literal of a text, without interpolation.
    var isPlainText: Bool { self.as(StringLiteralExprSyntax.self)?.representedLiteralValue != nil }
}

extension WithAttributesSyntax {
    /// The attribute with a name.
    func attribute(_ name: String) -> AttributeSyntax? {
        attributes.lazy.compactMap { $0.as(AttributeSyntax.self) }.first { $0.name == name }
    }
}

extension AttributeSyntax {
    /// The name without a module.
    var name: String {
        attributeName.as(IdentifierTypeSyntax.self)?.name.text ?? attributeName.as(MemberTypeSyntax.self)?.name.text
            ?? attributeName.trimmedDescription
    }

    /// The arguments with a label. Those that follow without one belong to it.
    func arguments(_ label: String) -> [LabeledExprSyntax] {
        guard case .argumentList(let list)? = arguments else { return [] }
        var found: [LabeledExprSyntax] = [], isIn = false
        for argument in list {
            if let own = argument.label?.text { isIn = own == label }
            if isIn { found.append(argument) }
        }
        return found
    }

    func argument(_ label: String) -> ExprSyntax? { arguments(label).first?.expression }

    /// The first argument, if it has no label.
    var unlabeled: ExprSyntax? {
        guard case .argumentList(let list)? = arguments, let first = list.first, first.label == nil else { return nil }
        return first.expression
    }
}

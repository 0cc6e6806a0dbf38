import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

extension FieldSyntax {
    /// The names that the macro gives to members of its own.
    private static let reserved: Set<String> = ["entity", "fields", "indexes", "mapping", "parent", "compression"]

    /// Reads a property; nil if it is no field, or if it has a problem that was reported.
    init?(_ property: VariableDeclSyntax, _ context: some MacroExpansionContext) {
        guard let binding = property.bindings.first else { return nil }
        let attributes = property.fieldAttributes
        for attribute in property.attributes.conditionalAttributes where attribute.isOfField {
            context.report(
                .conditionalAttribute(attribute.name, binding.pattern.trimmedDescription), at: attribute)
        }
        guard property.isStoredInInstances else {
            for attribute in attributes {
                context.report(.notStored(attribute.name, binding.pattern.trimmedDescription), at: attribute)
            }
            return nil
        }
        guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else {
            context.report(.severalInOneLine, at: property)
            return nil
        }
        let name = pattern.identifier.text
        if property.attribute("Transient") != nil {
            if binding.initializer == nil { context.report(.transientWithoutValue(name), at: pattern) }
            for attribute in attributes where attribute.name != "Transient" {
                context.report(.contradiction(name, attribute.name, "Transient"), at: attribute)
            }
            return nil
        }
        guard property.bindings.count == 1 else {
            context.report(.severalInOneLine, at: property)
            return nil
        }
        guard let type = binding.typeAnnotation?.type ?? FieldSyntax.inverseType(binding) else {
            context.report(.noType(name), at: pattern, FieldSyntax.typeFix(binding))
            return nil
        }
        var known: Set<String> = []
        for attribute in attributes where !known.insert(attribute.name).inserted {
            context.report(.twice(attribute.name, name), at: attribute)
        }
        if FieldSyntax.reserved.contains(name) { context.report(.reserved(name), at: pattern) }
        // `QueryFields.through` hides the column.
        if name == "through" { context.report(.columnName(name), at: pattern) }
        self.property = property
        identifier = name
        self.type = type
        kind = FieldKind(type.unwrapped)
        isKey = property.attribute("Key") != nil
        hasValue = binding.initializer != nil
        isConstant = property.bindingSpecifier.tokenKind == .keyword(.let)
        index = property.attribute("Index")
        declaration = property.attribute("Attribute") ?? property.attribute("Relationship")
        if isConstant, hasValue, !isInverse { context.report(.constant(name), at: property.bindingSpecifier) }
        check(context)
    }

    /// The type of `Inverse<Issue>()`, the only initial value that has its type in it.
    private static func inverseType(_ binding: PatternBindingSyntax) -> TypeSyntax? {
        guard let call = binding.initializer?.value.as(FunctionCallExprSyntax.self),
            let generic = call.calledExpression.as(GenericSpecializationExprSyntax.self),
            generic.expression.trimmedDescription == "Inverse"
        else { return nil }
        return TypeSyntax(stringLiteral: generic.trimmedDescription)
    }

    /// The fix for a literal: its type.
    private static func typeFix(_ binding: PatternBindingSyntax) -> FixIt? {
        guard let value = binding.initializer?.value, let type = LiteralType(value)?.rawValue else { return nil }
        let typed = binding.with(\.pattern, binding.pattern.trimmed).with(
            \.typeAnnotation,
            TypeAnnotationSyntax(
                colon: .colonToken(trailingTrivia: .space), type: TypeSyntax(stringLiteral: "\(type) ")))
        return .replace("add the type \(type)", binding, typed)
    }
}

extension VariableDeclSyntax {
    /// The attributes of this library, in the order of the source.
    fileprivate var fieldAttributes: [AttributeSyntax] {
        attributes.compactMap { $0.as(AttributeSyntax.self) }.filter(\.isOfField)
    }

    /// Whether the property is stored in each instance, and read with it.
    fileprivate var isStoredInInstances: Bool {
        let modifiers = modifiers.map(\.name.text)
        guard !modifiers.contains("static"), !modifiers.contains("class"), !modifiers.contains("lazy") else {
            return false
        }
        return switch bindings.first?.accessorBlock?.accessors {
        case nil: true
        case .getter: false
        case .accessors(let list):
            list.allSatisfy { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
        }
    }
}

extension AttributeSyntax {
    /// Whether it is one of this library.
    var isOfField: Bool { ["Key", "Index", "Attribute", "Relationship", "Transient"].contains(name) }
}

extension AttributeListSyntax {
    /// The attributes inside of `#if`.
    fileprivate var conditionalAttributes: [AttributeSyntax] {
        compactMap { $0.as(IfConfigDeclSyntax.self) }.flatMap { conditions in
            conditions.clauses.flatMap { clause -> [AttributeSyntax] in
                guard case .attributes(let list)? = clause.elements else { return [] }
                return list.compactMap { $0.as(AttributeSyntax.self) } + list.conditionalAttributes
            }
        }
    }
}

extension MemberBlockSyntax {
    /// Reports fields inside of `#if`.
    func checkConditions(_ context: some MacroExpansionContext) {
        for member in members { member.decl.as(IfConfigDeclSyntax.self)?.check(context) }
    }
}

extension IfConfigDeclSyntax {
    fileprivate func check(_ context: some MacroExpansionContext) {
        for clause in clauses {
            guard case .decls(let members)? = clause.elements else { continue }
            for member in members {
                member.decl.as(IfConfigDeclSyntax.self)?.check(context)
                guard let property = member.decl.as(VariableDeclSyntax.self), property.isStoredInInstances,
                    property.attribute("Transient") == nil, let binding = property.bindings.first
                else { continue }
                context.report(.conditional(binding.pattern.trimmedDescription), at: binding.pattern)
            }
        }
    }
}

/// The type of a literal.
enum LiteralType: String {
    case int = "Int"
    case double = "Double"
    case string = "String"
    case bool = "Bool"

    init?(_ value: ExprSyntax) {
        var value = value
        if let prefix = value.as(PrefixOperatorExprSyntax.self) { value = prefix.expression }
        switch value.kind {
        case .integerLiteralExpr: self = .int
        case .floatLiteralExpr: self = .double
        case .stringLiteralExpr: self = .string
        case .booleanLiteralExpr: self = .bool
        default: return nil
        }
    }

    /// Whether a literal of this type is a value of another one; nil for a type that is not known.
    func fits(_ type: String) -> Bool? {
        switch type {
        case "Int", "Int64", "UInt64": self == .int
        case "Double": self == .int || self == .double
        case "ExactDecimal", "Date", "Timestamp", "UUID", "Data", "URL": false
        case "String": self == .string
        case "Bool": self == .bool
        default: nil
        }
    }
}

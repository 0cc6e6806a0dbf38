import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

extension FieldSyntax {
    /// Reports what does not fit together in the declaration of a field.
    func check(_ context: some MacroExpansionContext) {
        if isInverse { return checkInverse(context) }
        if isKey { checkKey(context) } else { checkType(context) }
        checkTarget(context)
        checkInitialValue(context)
        checkDeclaration(context)
        checkIndex(context)
        checkDefault(context)
        checkStoredType(context)
        checkSources(context)
    }

    private func checkKey(_ context: some MacroExpansionContext) {
        if type.isOptional {
            context.report(
                .optionalKey(name), at: type,
                .replace("make it \(type.unwrapped)", type, type.unwrapped))
        }
        let unwrapped = type.unwrapped.trimmedDescription
        let isWrong =
            ["Bool", "Double", "Float", "UInt64", "Date", "Timestamp", "Data", "URL", "ExactDecimal"].contains(
                unwrapped)
            || type.unwrapped.element != nil || isToMany || type.unwrapped.wayOut != nil
        if isWrong { context.report(.keyType(name, unwrapped), at: type) }
        if let value = defaultValue { context.report(.defaultOfKey(name), at: value) }
    }

    private var isToMany: Bool { if case .toMany = kind { true } else { false } }

    private var isRelationship: Bool { kind != .attribute }

    private func checkDeclaration(_ context: some MacroExpansionContext) {
        if let attribute = property.attribute("Attribute"), property.attribute("Relationship") != nil {
            context.report(.contradiction(name, "Attribute", "Relationship"), at: attribute)
            return
        }
        if let attribute = property.attribute("Attribute"), isRelationship {
            context.report(
                .attributeOfReference(name), at: attribute.attributeName,
                .replace(
                    "use @Relationship", attribute.attributeName,
                    IdentifierTypeSyntax(name: .identifier("Relationship"))))
        }
        if let relationship = property.attribute("Relationship") {
            if !isRelationship { context.report(.relationshipType(name, type.trimmedDescription), at: type, typeFix) }
            if case .toOne = kind, let ordered = relationship.argument("ordered"),
                ordered.as(BooleanLiteralExprSyntax.self)?.literal.tokenKind == .keyword(.true)
            {
                context.report(.orderedToOne(name), at: ordered)
            }
            if let name = relationship.argument("inverse"), inverse == nil, !name.is(NilLiteralExprSyntax.self) {
                context.report(.inverseForm, at: name)
            }
        }
    }

    /// The fix for a relationship that is declared with its target itself.
    private var typeFix: FixIt? {
        if let element = type.unwrapped.element {
            return .replace("use References<\(element)>", type, TypeSyntax(stringLiteral: "References<\(element)>"))
        }
        guard let target = type.unwrapped.as(IdentifierTypeSyntax.self), target.genericArgumentClause == nil else {
            return nil
        }
        let reference = "Reference<\(target.name.text)>" + (type.isOptional ? "?" : "")
        return .replace("use \(reference)", type, TypeSyntax(stringLiteral: reference))
    }

    private func checkIndex(_ context: some MacroExpansionContext) {
        guard let index else { return }
        if isToMany || type.unwrapped.element != nil { context.report(.indexOfList(name), at: index) }
        let known = ["Bool", "Int", "Int64", "UInt64", "Double", "Date", "Timestamp", "UUID", "Data", "ExactDecimal"]
        let unwrapped = type.unwrapped.trimmedDescription
        if let folded = index.argument("ignoringCase"),
            folded.as(BooleanLiteralExprSyntax.self)?.literal.tokenKind == .keyword(.true),
            known.contains(unwrapped) || isRelationship
        {
            context.report(.foldedIndex(name, unwrapped), at: folded)
        }
    }

    private func checkType(_ context: some MacroExpansionContext) {
        let several = type.wrapped?.isOptional == true ? "declare one optional, since the store has one null" : nil
        guard !isCodable, let wayOut = several ?? type.unwrapped.wayOut else { return }
        context.report(.fieldType(name, type.trimmedDescription, wayOut), at: type)
    }

    private func checkTarget(_ context: some MacroExpansionContext) {
        guard isRelationship, let target = type.unwrapped.firstArgumentType, target.trimmedDescription != "Self"
        else { return }
        // A record may have the name of a type that other modules have: Data, Character.
        let isValue = ["Int", "Int64", "UInt64", "String", "Bool", "Double"].contains(target.trimmedDescription)
        let isOther = !target.is(IdentifierTypeSyntax.self) && target.wayOut != nil
        guard isValue || target.isOptional || target.element != nil || isOther else { return }
        context.report(.targetType(name, target.trimmedDescription), at: type)
    }

    private func checkInitialValue(_ context: some MacroExpansionContext) {
        guard !isKey, !isConstant, kind == .attribute, defaultValue == nil,
            let value = property.bindings.first?.initializer?.value, LiteralType(value) != nil
        else { return }
        context.report(.initialValue(name, value.trimmedDescription), at: value)
    }

    /// Reports a default whose type the compiler cannot infer, since the macro does not know that
    /// of the property.
    private func checkTypeOfDefault(_ value: ExprSyntax, _ context: some MacroExpansionContext) {
        let type = type.unwrapped.trimmedDescription
        if value.is(NilLiteralExprSyntax.self) {
            context.report(.defaultWithoutType(name, "remove it, an optional is nil without one"), at: value)
        } else if value.as(ArrayExprSyntax.self)?.elements.isEmpty ?? false {
            context.report(
                .defaultWithoutType(name, "write \(type)()"), at: value,
                .replace("write \(type)()", value, ExprSyntax("\(raw: type)()")))
        } else {
            let member = value.as(FunctionCallExprSyntax.self)?.calledExpression ?? value
            guard let member = member.as(MemberAccessExprSyntax.self), member.base == nil else { return }
            let typed = "\(type)\(value.trimmedDescription)"
            context.report(
                .defaultWithoutType(name, "write \(typed)"), at: value,
                .replace("write \(typed)", value, ExprSyntax("\(raw: typed)")))
        }
    }

    private func checkDefault(_ context: some MacroExpansionContext) {
        guard let value = defaultValue else { return }
        checkTypeOfDefault(value, context)
        guard let literal = LiteralType(value) else { return }
        let unwrapped = type.unwrapped.trimmedDescription
        if literal.fits(unwrapped) == false {
            context.report(.wrongDefault(name, type.trimmedDescription, "of type \(literal.rawValue)"), at: value)
        }
    }

    /// The types in the store that values of a type can have; JSON is checked by the compiler.
    private static let storedTypes: [String: Set<String>] = [
        "Bool": ["bool"], "Int": ["int"], "Int64": ["int"], "UInt64": ["uint"], "Double": ["double"],
        "ExactDecimal": ["decimal"], "String": ["string", "url", "json", "enumeration"], "Timestamp": ["date"],
        "Date": ["date"], "UUID": ["uuid"], "URL": ["url", "string"], "Data": ["bytes"],
    ]

    private func checkStoredType(_ context: some MacroExpansionContext) {
        guard let stored = declaration?.argument("type"), !isCodable,
            let name = stored.storedTypeName,
            let fitting = FieldSyntax.storedTypes[type.unwrapped.trimmedDescription], !fitting.contains(name)
        else { return }
        context.report(.storedType(self.name, type.trimmedDescription, stored.trimmedDescription), at: stored)
    }

    private func checkSources(_ context: some MacroExpansionContext) {
        var known: Set<String> = []
        for source in sources {
            guard let text = source.as(StringLiteralExprSyntax.self)?.representedLiteralValue else { continue }
            if text.isEmpty { context.report(.emptySource, at: source) }
            if !known.insert(text).inserted { context.report(.duplicateSource(text), at: source) }
        }
    }

    /// Reports what does not apply to a relationship that the other side stores.
    private func checkInverse(_ context: some MacroExpansionContext) {
        if type.isOptional { context.report(.optionalInverse(name), at: type) }
        for attribute in ["Key", "Index", "Attribute"].compactMap({ property.attribute($0) }) {
            context.report(.inverseIsNoField(name), at: attribute)
        }
        if let source = sources.first { context.report(.inverseWithSource(name), at: source) }
    }
}

extension ExprSyntax {
    /// The name of an `AttributeType` that is written as a member: `array` of `.array(.string)`.
    fileprivate var storedTypeName: String? {
        let member = self.as(FunctionCallExprSyntax.self)?.calledExpression ?? self
        return member.as(MemberAccessExprSyntax.self)?.declName.baseName.text
    }
}

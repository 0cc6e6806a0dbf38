import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// The problems of a record's declaration. A text names the way out.
enum RecordDiagnostic: DiagnosticMessage {
    case notAStruct(String)
    case generic
    case noKey
    case noType(String)
    case severalInOneLine
    case optionalKey(String)
    case keyType(String, String)
    case defaultOfKey(String)
    case notAProperty(String)
    case outsideOfRecord(String)
    case relationshipType(String, String)
    case attributeOfReference(String)
    case indexOfList(String)
    case foldedIndex(String, String)
    case orderedToOne(String)
    case wrongDefault(String, String, String)
    case inverseIsNoField(String)
    case inverseForm
    case inverseWithSource(String)
    case transientWithoutValue(String)
    case constant(String)
    case reserved(String)
    case contradiction(String, String, String)
    case emptySource
    case duplicateSource(String)
    case reservedType(String)
    case reservedMember(String)
    /// A type that may be meant: that of the record's own keys.
    case hiddenType(String, String, String)
    case privateType(String, String)
    case privateValue(String, String)
    case keyPathOfCircle(String, String)
    case notStored(String, String)
    case twice(String, String)
    case conditional(String)
    case conditionalAttribute(String, String)
    case storedType(String, String, String)
    case fieldType(String, String, String)
    /// As ``fieldType``, of a type whose conformance may be in an extension.
    case nestedType(String, String, String)
    case targetType(String, String)
    case optionalInverse(String)
    case reservedInKey(String)
    case defaultWithoutType(String, String)
    case initialValue(String, String)
    case columnName(String)

    var message: String {
        switch self {
        case .notAStruct(let kind): "@Record applies to a struct, but this is \(kind)"
        case .generic: "a record cannot be generic: its entity has one schema"
        case .noKey: "a record needs a key: mark the property that identifies it with @Key"
        case .noType(let name): "the field '\(name)' needs its type, which a macro cannot infer"
        case .severalInOneLine: "a record declares each field on a line of its own"
        case .optionalKey(let name): "the key '\(name)' cannot be optional"
        case .keyType(let name, let type):
            "the key '\(name)' cannot be of type \(type): a key is Int, Int64, String, UUID or a Reference"
        case .defaultOfKey(let name): "the key '\(name)' cannot have a default: two records would have the same key"
        case .notAProperty(let attribute): "@\(attribute) applies to a property of a record"
        case .outsideOfRecord(let attribute): "@\(attribute) has no effect outside of a struct with @Record"
        case .relationshipType(let name, let type):
            "the relationship '\(name)' is of type \(type): use Reference for one target, References for several"
        case .attributeOfReference(let name): "'\(name)' is a relationship: use @Relationship"
        case .indexOfList(let name): "'\(name)' cannot be indexed: a list has no order"
        case .foldedIndex(let name, let type): "the index of '\(name)' cannot ignore case: \(type) is no text"
        case .orderedToOne(let name): "'\(name)' has one target, so there is no order"
        case .wrongDefault(let name, let type, let found):
            "the default of '\(name)' is \(found), but its type is \(type)"
        case .inverseIsNoField(let name):
            "'\(name)' is stored by the other side: only @Relationship(inverse:onDelete:) applies to it"
        case .inverseForm: #"the inverse is a key path such as \User.issues, or the name of a property as a literal"#
        case .inverseWithSource(let name): "'\(name)' has no value in the JSON: the other side has it"
        case .transientWithoutValue(let name): "the transient property '\(name)' needs an initial value"
        case .constant(let name): "'\(name)' is a constant with a value, so it cannot be read: make it a var"
        case .reserved(let name): "'\(name)' is a member that @Record adds: choose another name"
        case .contradiction(let name, let first, let second): "'\(name)' cannot have both @\(first) and @\(second)"
        case .emptySource: "the key path is empty: remove it, since the property's own name is tried anyway"
        case .duplicateSource(let path): "the key path '\(path)' is there twice"
        case .reservedType(let name):
            "@Record adds a type \(name) to every record, which would hide this one: rename the struct, and name the entity with @Record(\"\(name)\")"
        case .reservedMember(let name): "@Record adds a type \(name) to every record: rename this one"
        case .hiddenType(let name, let record, let type):
            "the type of '\(name)' is the \(type) that @Record adds to \(record): write \(record).\(type) for that, or another type with its module"
        case .privateType(let record, let type):
            "@Record adds an extension of \(record) at the top of the file, where the private type \(type) is hidden: make \(type) fileprivate"
        case .privateValue(let name, let type):
            "'\(name)' is of type \(type), which is private, but its column is visible in the whole file: make \(type) fileprivate"
        case .keyPathOfCircle(let type, let name):
            "\(type) refers to itself, so the compiler cannot resolve a key path here: write inverse: \"\(name)\""
        case .notStored(let attribute, let name):
            "@\(attribute) has no effect on '\(name)': only stored properties are fields"
        case .twice(let attribute, let name): "'\(name)' has @\(attribute) twice: combine them"
        case .conditional(let name):
            "the field '\(name)' cannot be inside of #if: @Record does not see it. Move it out, or mark it with @Transient"
        case .conditionalAttribute(let attribute, let name):
            "@\(attribute) of '\(name)' cannot be inside of #if: @Record does not see it. Move it out"
        case .storedType(let name, let type, let stored):
            "'\(name)' is of type \(type), whose values cannot be stored as \(stored)"
        case .fieldType(let name, let type, let wayOut), .nestedType(let name, let type, let wayOut):
            "'\(name)' is of type \(type), which is not one of a field: \(wayOut)"
        case .targetType(let name, let type):
            "'\(name)' leads to \(type), which is no record: name the struct of a record there"
        case .optionalInverse(let name):
            "'\(name)' is stored by the other side, so it cannot be optional: remove the ?"
        case .reservedInKey(let name):
            "'\(name)' is a member of the type Key that @Record adds: choose another name for this part of the key"
        case .defaultWithoutType(let name, let wayOut):
            "the compiler cannot infer the type of the default of '\(name)': \(wayOut)"
        case .initialValue(let name, let value):
            "the initial value of '\(name)' is not a default of records that come without one: for that, write @Attribute(default: \(value))"
        case .columnName(let name):
            "in a condition, $0.\(name) is a method: write $0[\"\(name)\"] there, or choose another name"
        }
    }

    var diagnosticID: MessageID {
        MessageID(domain: "TarnMacros", id: "\(self)".prefix { $0.isLetter }.description)
    }

    var severity: DiagnosticSeverity {
        switch self {
        case .initialValue, .columnName, .nestedType, .hiddenType: .warning
        default: .error
        }
    }
}

/// A change of the source that is the one right answer to a problem.
struct RecordFixIt: FixItMessage {
    let message: String
    var fixItID: MessageID { MessageID(domain: "TarnMacros", id: message) }
}

extension MacroExpansionContext {
    /// Reports a problem at a node, perhaps with its fix.
    func report(_ problem: RecordDiagnostic, at node: some SyntaxProtocol, _ fix: FixIt? = nil) {
        diagnose(Diagnostic(node: node, message: problem, fixIts: fix.map { [$0] } ?? []))
    }
}

extension FixIt {
    /// A fix that replaces a node.
    static func replace(_ message: String, _ old: some SyntaxProtocol, _ new: some SyntaxProtocol) -> FixIt {
        FixIt(
            message: RecordFixIt(message: message),
            changes: [
                .replace(
                    oldNode: Syntax(old),
                    newNode: Syntax(
                        new.with(\.leadingTrivia, old.leadingTrivia).with(\.trailingTrivia, old.trailingTrivia)))
            ])
    }
}

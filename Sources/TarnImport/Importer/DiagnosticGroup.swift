// Diagnostics of one kind at one field, as one.

/// All diagnostics with the same code, entity and field: how many there are, and the first one.
///
/// A schema bounds the number of groups; a response does not.
public struct DiagnosticGroup: Sendable, Hashable {
    public var code: Diagnostic.Code
    public var entity: String
    /// The attribute, relationship or index; nil if the diagnostic is about the record as a whole.
    public var field: String?
    public var count: Int
    public var first: Diagnostic

    /// A group of one.
    public init(_ diagnostic: Diagnostic) {
        code = diagnostic.code
        entity = diagnostic.entity
        field = diagnostic.field
        count = 1
        first = diagnostic
    }

    struct Key: Hashable {
        var code: Diagnostic.Code
        var entity: String
        var field: String?
    }

    var key: Key { Key(code: code, entity: entity, field: field) }
}

extension [DiagnosticGroup] {
    mutating func add(_ other: [DiagnosticGroup]) {
        for group in other {
            if let known = firstIndex(where: { $0.key == group.key }) {
                self[known].count += group.count
            } else {
                append(group)
            }
        }
    }
}

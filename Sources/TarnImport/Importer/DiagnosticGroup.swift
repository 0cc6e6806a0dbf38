// Diagnostics of one kind for one field, as a group.

/// The diagnostics with the same code, entity and field: their number, and the first one.
///
/// The schema, not the response, bounds the number of groups.
package struct DiagnosticGroup: Sendable, Hashable {
    /// The kind of the diagnostics.
    package var code: Diagnostic.Code
    /// The entity's name.
    package var entity: String
    /// The attribute, relationship or index; nil if the diagnostics concern whole records.
    package var field: String?
    /// The number of diagnostics.
    package var count: Int
    /// The first diagnostic.
    package var first: Diagnostic

    /// Creates a group of one diagnostic.
    init(_ diagnostic: Diagnostic) {
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
        guard other.count > 1 else {
            guard let group = other.first else { return }
            guard let known = firstIndex(where: { $0.key == group.key }) else { return append(group) }
            return self[known].count += group.count
        }
        // A table of many fields may have a group for each.
        var positions = Dictionary(indices.map { (self[$0].key, $0) }) { first, _ in first }
        for group in other {
            if let known = positions[group.key] {
                self[known].count += group.count
            } else {
                positions[group.key] = count
                append(group)
            }
        }
    }
}

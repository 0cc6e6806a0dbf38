import TarnImport

/// The records of a list that came more than once in it.
///
/// If they are different records for the server, then their key lacks a field, and they have
/// replaced each other.
package struct RepeatedRecords: Sendable, Hashable {
    /// The number of elements with a key.
    package let listed: Int
    /// The number of different keys.
    package let different: Int

    package var count: Int { listed - different }
}

extension Endpoint {
    /// Whether the records are contained in the elements of a list, of which several may have the
    /// same one: `data.*.project`.
    var listsContainedRecords: Bool {
        let steps = (envelope.first { $0.entity == entity }?.path ?? records).steps
        return steps.lastIndex(of: .each).map { $0 < steps.count - 1 } ?? false
    }
}

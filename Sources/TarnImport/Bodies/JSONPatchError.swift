/// The error of a body that cannot be written as a JSON patch.
package enum JSONPatchError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A value has no place of its own: a field has all members that no other one has.
    case unplaced(String)

    package var description: String {
        switch self {
        case .unplaced(let path):
            "format: json_patch has no place for \(path), a member that no field has by itself: leave it out with "
                + "fields, or declare an attribute for it"
        }
    }
}

/// A one-to-one reference of a unit, whose target may be referenced by one record only.
struct ReferenceConflict {
    /// The plan of the topmost entity that declares the reference, and its field.
    var plan: Int
    var field: UInt16
    var owner: [UInt8]
    var target: [UInt8]
    /// The path of the reference in the response.
    var path: String
}

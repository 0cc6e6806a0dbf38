internal import TarnStore

/// One record's word that a relationship leads to another, which may be led to by one only.
struct Claim {
    /// The plan of the topmost entity that has the reference, and its field.
    var plan: Int
    var field: UInt16
    var owner: [UInt8]
    var target: [UInt8]
    /// Where it stands in the response.
    var path: String
}

/// An attribute of a proposed entity.
struct ProposedAttribute {
    var name: String
    /// The type as a description writes it, without `?`: `int`, `[string]`, `enum`.
    var type: String
    var isOptional = false
    /// The keys that lead to the value; nil if the name alone leads there.
    var from: [[String]]?
    /// The text of `from` if it is no key path, such as `@position`.
    var source: String?
    /// The values of an `enum`.
    var values: [String] = []
    var format: String?
    /// The unit of a date that is a number.
    var epoch: String?
    /// A constant, instead of a source.
    var constant: String?
    /// The value of records that lack it, as a description writes it.
    var absent: String?
    var isIndexed = false
    /// The explanation of the guess; empty if the type needs none.
    var comment = ""
    /// Another definition that the samples allow, and its reason.
    var alternative: (definition: String, reason: String)?
}

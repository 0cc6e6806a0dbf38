/// The members of the JSON objects of records.
package struct JSONShape {
    /// The name of a first member with the name of the record's entity; nil for none.
    var kindName: String?
    /// The names of fields, in the order of the members; nil for every field.
    package var fields: [String]?
    /// The names of relationships, whose members come last: the objects of the targets, with every
    /// field. A missing target is its key.
    package var included: [String]

    /// Creates a shape.
    package init(kindName: String? = nil, fields: [String]? = nil, included: [String] = []) {
        (self.kindName, self.fields, self.included) = (kindName, fields, included)
    }
}

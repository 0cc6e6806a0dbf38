/// The fields of a record that the body of a request contains, and their form.
package struct BodyOptions: Sendable, Hashable {
    /// The fields to send; nil for all that can be sent.
    ///
    /// A field that is named here and has no value is sent as null.
    package var fields: Set<String>?
    /// The fields that are left out.
    package var omitted: Set<String> = []
    /// The fields of the stored entity that the description does not declare: no body has them.
    ///
    /// Only the description says where the server has a field.
    package var undeclared: Set<String> = []
    /// The form of references. Default: `key`.
    package var references: ReferenceForm = .key
    /// The forms of single relationships, by name.
    package var referenceForms: [String: ReferenceForm] = [:]
    /// The templates of references that have no ``ReferenceForm``, by the names of relationships.
    package var referenceTemplates: [String: JSONValue] = [:]
    /// The places of fields, by name, where they differ from those in responses: keys of the body.
    package var places: [String: JSONPath] = [:]

    /// Creates options: everything that can be sent, with bare keys as references.
    package init() {}

    /// Returns the form of a relationship. A template has the place of an object.
    func form(of field: String) -> ReferenceForm {
        referenceTemplates[field] == nil ? referenceForms[field] ?? references : .object
    }
}

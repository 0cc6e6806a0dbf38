public import TarnStore

/// What a unit says about one record.
public struct ImportedDraft {
    /// The name of the record's entity.
    public let entity: String
    /// Nil if the key is too long to be read back from here.
    public let key: RecordKey?
    /// Whether a response lists it, or it has all that is required.
    public let isComplete: Bool
    /// What is said: a value, or null; what is absent is not here.
    public let fields: [Record.Field]
    fileprivate(set) var edits: [(field: String, json: JSONValue)] = []

    /// What is said of a field; nil if nothing is.
    public subscript(field: String) -> Value? { fields.first { $0.name == field }?.value }

    /// Sets an attribute, from JSON, as if it had come in the response; null clears it. What its type refuses, or what is no JSON, is
    /// the diagnostic `value.type`, and the draft's value stays.
    ///
    /// - Precondition: it is an attribute of the entity, and no part of the key.
    public mutating func set(_ attribute: String, _ json: JSONValue) { edits.append((attribute, json)) }

    init(_ plan: EntityPlan, _ key: Bytes, _ body: RowBody, isComplete: Bool) {
        entity = plan.entity.name
        self.key = RecordKey(storageKey: key)
        self.isComplete = isComplete
        var fields: [Record.Field] = []
        for index in 0..<body.count {
            guard let field = plan.entity.field(id: body.id(at: index)), let value = body.value(at: index)?.decoded() else { continue }
            fields.append(Record.Field(field.name, value))
        }
        self.fields = fields
    }
}

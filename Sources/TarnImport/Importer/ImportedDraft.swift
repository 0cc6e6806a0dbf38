public import TarnStore

/// The draft of one record in a unit.
public struct ImportedDraft {
    /// The name of the record's entity.
    public let entity: String
    /// The record's key; nil if it is too long to be decoded from the storage key.
    public let key: RecordKey?
    /// Whether a response lists the record, or it has all required fields.
    public let isComplete: Bool
    /// The fields with their values or nulls, without absent ones.
    public let fields: [Record.Field]
    fileprivate(set) var edits: [(field: String, json: JSONValue)] = []

    /// The value of a field; nil if the field is absent.
    public subscript(field: String) -> Value? { fields.first { $0.name == field }?.value }

    /// Sets an attribute from JSON, as if it were in the response; null clears it.
    ///
    /// If the type refuses the value, or it is no valid JSON, the diagnostic `value.type` is
    /// reported and the draft's value is kept.
    ///
    /// - Precondition: the entity has the attribute, which is not part of the key.
    public mutating func set(_ attribute: String, _ json: JSONValue) { edits.append((attribute, json)) }

    init(_ plan: EntityPlan, _ key: Bytes, _ body: RowBody, isComplete: Bool) {
        entity = plan.entity.name
        self.key = RecordKey(storageKey: key)
        self.isComplete = isComplete
        var fields: [Record.Field] = []
        for index in 0..<body.count {
            guard let field = plan.entity.field(id: body.id(at: index)), let value = body.value(at: index)?.decoded()
            else { continue }
            fields.append(Record.Field(field.name, value))
        }
        self.fields = fields
    }
}

internal import TarnStore

/// An attribute for which no record of any response had a value, not even null: often its JSON path is misspelt.
public struct AbsentAttribute: Sendable, Hashable {
    public var entity: String
    public var attribute: String
    /// Listed records of the entity that were looked at.
    public var records: Int

    public init(entity: String, attribute: String, records: Int) {
        self.entity = entity
        self.attribute = attribute
        self.records = records
    }
}

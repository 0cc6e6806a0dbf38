internal import TarnStore

/// An attribute that no record of any response had, not even as null. Often its path is misspelt.
public struct AbsentAttribute: Sendable, Hashable {
    /// The entity's name.
    public var entity: String
    /// The attribute's name.
    public var attribute: String
    /// The number of listed records that were examined.
    public var records: Int

    /// Creates a description of an absent attribute.
    package init(entity: String, attribute: String, records: Int) {
        self.entity = entity
        self.attribute = attribute
        self.records = records
    }
}

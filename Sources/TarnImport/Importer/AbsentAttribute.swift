/// An attribute that no record of any response had, not even as null. Often its path is misspelt.
package struct AbsentAttribute: Sendable, Hashable {
    /// The entity's name.
    package var entity: String
    /// The attribute's name.
    package var attribute: String
    /// The number of listed records that were examined. A record that is listed again counts again.
    package var records: Int

    /// Creates a description of an absent attribute.
    package init(entity: String, attribute: String, records: Int) {
        self.entity = entity
        self.attribute = attribute
        self.records = records
    }
}

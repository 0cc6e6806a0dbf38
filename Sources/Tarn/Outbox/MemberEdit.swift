import TarnStore

/// Members that a to-many relationship gets or loses.
package struct MemberEdit: Sendable, Hashable {
    package var isAddition: Bool
    package var relationship: String
    package var members: [RecordKey]

    package init(isAddition: Bool, relationship: String, members: [RecordKey]) {
        self.isAddition = isAddition
        self.relationship = relationship
        self.members = members
    }
}

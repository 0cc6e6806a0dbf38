/// The context of a nested or listed record. -1 means none.
struct Surroundings {
    /// The object of the enclosing record, on the document's tape.
    var parent = -1
    var parentPlan: Int32 = -1
    /// The slot of the enclosing record in which the record is nested.
    var relationship: Int32 = -1
    /// The position in its list.
    var position = -1
    /// The number of its member name, or of that of its list: see ``DocumentValues/name(_:)``.
    var name: Int32 = -1
}

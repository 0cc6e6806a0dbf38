internal import TarnStore

/// What is known of a record from where it stands. -1 stands for nothing.
struct Surroundings {
    /// The object of the enclosing record, on the document's tape.
    var parent = -1
    var parentPlan: Int32 = -1
    /// The slot of the enclosing record that leads to it.
    var relationship: Int32 = -1
    /// In its list.
    var position = -1
}

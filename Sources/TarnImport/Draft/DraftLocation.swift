/// The location of a record's first occurrence in a unit.
struct DraftLocation {
    /// The number of the list among those of the unit's documents; -1 if there is none.
    var list: Int32 = -1
    /// The position of the listed record; -1 if the record is in no list.
    var position: Int32 = -1
    /// Whether the record is nested in the listed one.
    var isNested = false
}

/// A list of records in a document of a unit.
struct DocumentList {
    /// The path of the list.
    var path: String
    /// The name of the document.
    var source: String?
}

/// One component of a key or an index.
struct PathComponent {
    enum Form {
        /// A tuple element.
        case element
        /// The storage key of a to-one reference.
        ///
        /// It is a part of a key, or the start of an entry in an index of references.
        case key
        /// The storage key of a target of a to-many relationship: a record has several.
        case keys
    }

    var field: UInt16
    var isFolded = false
    var form = Form.element
}

internal import LMDB

/// One component of a key or an index.
struct PathComponent {
    enum Form {
        /// A tuple element.
        case element
        /// The storage key of a reference, spliced into a key or at the beginning of an index of references.
        case key
        /// The same, of a to-many relationship: a record has several.
        case keys
    }

    var field: UInt16
    var isFolded = false
    var form = Form.element
}

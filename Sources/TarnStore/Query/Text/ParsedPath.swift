/// A path in a text, and the place of each name.
struct ParsedPath {
    var path: FieldPath
    var ranges: [Range<Int>]
}

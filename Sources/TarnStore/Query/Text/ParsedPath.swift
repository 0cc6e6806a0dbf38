/// A path in a text, with the range of each name.
struct ParsedPath {
    var path: FieldPath
    var ranges: [Range<Int>]
}

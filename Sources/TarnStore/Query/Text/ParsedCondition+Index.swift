// The range of a condition in its text, for errors about conditions of partial indexes.

extension ParsedCondition {
    /// The range from the first name to the last name or value.
    var range: Range<Int>? {
        switch self {
        case .all: return nil
        case .anyContains(_, _, let range): return range
        case .comparison(let comparison):
            let start = comparison.path.ranges[0].lowerBound
            return
                start..<(comparison.values.last?.range ?? comparison.path.ranges[comparison.path.ranges.count - 1])
                .upperBound
        case .not(let part): return part.range
        case .and(let parts), .or(let parts):
            let ranges = parts.compactMap(\.range)
            guard let first = ranges.first, let last = ranges.last else { return nil }
            return first.lowerBound..<last.upperBound
        }
    }
}

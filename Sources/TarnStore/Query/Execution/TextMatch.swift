/// The first occurrence of a text in a field of a record, with the text around it.
package struct TextMatch: Sendable, Hashable {
    /// The name of the field.
    package var field: String
    /// The text before the occurrence; it begins with `…` if it is cut.
    package var before: String
    /// The occurrence, as the record has it.
    package var match: String
    /// The text after the occurrence; it ends with `…` if it is cut.
    package var after: String
}

extension Record {
    /// Returns the occurrences that `any contains` finds: the first one of each field.
    ///
    /// - Parameters:
    ///   - context: the maximum number of Unicode scalars on each side of an occurrence.
    package func matches(of text: String, ignoringCase: Bool, context: Int) -> [TextMatch] {
        fields.compactMap { field in
            for candidate in field.value.texts {
                if let match = TextMatch(field.name, candidate, text, ignoringCase: ignoringCase, context: context) {
                    return match
                }
            }
            return nil
        }
    }
}

extension TextMatch {
    /// Finds a part of a text; nil if the text does not have it.
    fileprivate init?(_ field: String, _ text: String, _ part: String, ignoringCase: Bool, context: Int) {
        let wanted = Array((ignoringCase ? CaseFolding.fold(part) : part).utf8), all = text.unicodeScalars
        // The ends of the scalars among the searched bytes: folding may lengthen a scalar.
        var own: [UInt8] = [], ends: [Int] = []
        for scalar in all {
            own += Array((ignoringCase ? CaseFolding.fold(String(scalar)) : String(scalar)).utf8)
            ends.append(own.count)
        }
        guard let found = own.firstRange(of: wanted) else { return nil }
        let from = ends.firstIndex { $0 > found.lowerBound } ?? ends.count
        let to = ends.firstIndex { $0 >= found.upperBound }.map { $0 + 1 } ?? ends.count
        let start = all.index(all.startIndex, offsetBy: from), end = all.index(start, offsetBy: max(0, to - from))
        let first = all.index(start, offsetBy: -context, limitedBy: all.startIndex) ?? all.startIndex
        let last = all.index(end, offsetBy: context, limitedBy: all.endIndex) ?? all.endIndex
        self.field = field
        before = (first > all.startIndex ? "…" : "") + String(all[first..<start])
        match = String(all[start..<end])
        after = String(all[end..<last]) + (last < all.endIndex ? "…" : "")
    }
}

extension Value {
    /// The texts of the value: one, those of a list, or none.
    fileprivate var texts: [String] {
        switch self {
        case .string(let text), .url(let text), .json(let text): [text]
        case .array(let values): values.flatMap(\.texts)
        default: []
        }
    }
}

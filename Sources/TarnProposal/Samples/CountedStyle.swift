// Styles that number pages or count records, in parts.

import Tarn

/// The style `page_number` or `offset` before it is written.
struct CountedStyle: Sendable {
    enum Unit: Sendable { case pages, records }

    var unit: Unit
    /// The parameter of the number.
    var parameter: String
    /// The number of the first page; nil for the default.
    var start: Int?
    /// The parameter of the page size, and the size; nil for the server's size.
    var size: (name: String, value: Int)?
    /// The location of a total or of a flag, as a description writes it: `total: meta.total`.
    var count = ""
    /// Whether only a page without records is the last one: a server may return fewer than `size`.
    var endsEmpty = false
    /// Whether the server answers with the last page to all larger numbers.
    var endsRepeated = false

    /// The style as a description writes it.
    var text: String {
        var parts = ["param: \(YAMLText.scalar(parameter))"]
        if let start { parts.append("start: \(start)") }
        if let size { parts.append("per_page: { \(YAMLText.scalar(size.name)): \(size.value) }") }
        if !count.isEmpty { parts.append(count) }
        if endsRepeated, count.isEmpty {
            parts.append("end: repeated")
        } else if endsEmpty, size != nil, count.isEmpty {
            parts.append("end: empty")
        }
        return "{ \(unit == .pages ? "page_number" : "offset"): { \(parts.joined(separator: ", ")) } }"
    }

    /// The style for a scan that stops at a page without records.
    var pagination: Pagination {
        switch unit {
        case .pages: .pageNumber(.query(parameter), start: start ?? 1)
        case .records: .offset(.query(parameter), start: start ?? 0)
        }
    }

    /// Returns the style with a reason.
    func sampled(_ reason: String) -> SampledStyle {
        var style = SampledStyle()
        style.text = text
        style.reason = reason
        style.parameters = [parameter]
        return style
    }

    /// Adapts the page size to the pages: a server may return fewer records than requested.
    ///
    /// - Parameter counts: the numbers of records of the pages, from the first one on.
    mutating func observe(_ counts: [Int]) {
        guard let requested = size, let first = counts.first else { return }
        // A server may leave out records that the reader must not see: such a page is not the last.
        if counts.dropLast().contains(where: { $0 < requested.value }) { endsEmpty = true }
        guard first < requested.value else { return }
        // Servers with a maximum number their pages by it, or by the requested size: the observed
        // size is the same for both. A larger page shows that it is no maximum.
        if counts.count > 1, first > 0, counts.allSatisfy({ $0 <= first }) { size = (requested.name, first) }
        endsEmpty = true
    }
}

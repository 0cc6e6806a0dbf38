// The values that a parameter takes, by its schema and its description.

extension Operation.Parameter {
    private var types: [String] {
        schema["type"].map { $0.scalarText.map { [$0] } ?? $0.elements.compactMap(\.scalarText) } ?? []
    }

    /// Whether the parameter takes a point in time.
    var isTime: Bool {
        if ["date", "date-time", "time", "unix-time", "timestamp"].contains(schema["format"]?.scalarText) {
            return true
        }
        // Seconds since 1970 are no number of a record.
        if let number = value.flatMap({ Int($0) }), number >= 1_000_000_000 { return true }
        let times: Set = ["timestamp", "timestamps", "unix", "epoch", "date", "datetime", "iso8601", "rfc3339"]
        return EnglishName.words(of: text).contains(where: times.contains)
    }

    /// Whether the parameter may take the number of a page, or of a record.
    var mayCount: Bool {
        guard !isTime else { return false }
        return types.isEmpty || types.contains("integer") || types.contains("number")
            || value.flatMap { Int($0) } != nil
    }

    /// Whether the parameter may take a cursor: the first page is requested without one.
    var mayBeCursor: Bool { !isTime && !isRequired && types != ["boolean"] }

    /// Whether the parameter takes a number.
    var isNumeric: Bool { types.contains("integer") || types.contains("number") }
}

extension DateFormat {
    /// Returns whether a text is a point in time in this format, as an import in lenient mode takes
    /// it.
    package func matches(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBytes { timestamp($0, isStrict: false) != nil }
    }
}

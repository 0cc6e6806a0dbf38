/// Formats a count with its noun: `1 record`, `2 records`.
///
/// - Parameter plural: the plural form, if it is not the noun with an `s`.
func countText(_ count: some BinaryInteger, _ noun: String, plural: String? = nil) -> String {
    "\(count) " + (count == 1 ? noun : plural ?? noun + "s")
}

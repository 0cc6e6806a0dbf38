/// Returns the note on lists of an endpoint that ended at a limit that the description declares.
///
/// - Parameters:
///   - cutOff: The number of these lists.
///   - isOneOfSeveral: Whether the endpoint has other lists, even if only one ended so.
func limitNote(_ name: String, cutOff: Int, isOneOfSeveral: Bool = false) -> String {
    let lists = cutOff > 1 || isOneOfSeveral ? countText(cutOff, "list") + " ended" : "ended"
    return "\(name): \(lists) at the limit of the description; the server has more"
}

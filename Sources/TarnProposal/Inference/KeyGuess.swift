/// A guess which fields identify the objects at one place.
struct KeyGuess {
    /// The keys in JSON; empty if nothing identifies the objects.
    var fields: [String]
    var reason: String
    /// Whether the names alone suggest the key.
    var isCertain: Bool
    /// Other fields that would do.
    var alternatives: [String] = []
}

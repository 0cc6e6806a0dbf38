/// A guess which fields identify the objects at one place.
struct KeyGuess {
    /// The keys in JSON; empty if nothing identifies the objects.
    var fields: [String]
    var reason: String
    /// Whether the names alone suggest the key.
    var isCertain: Bool
    /// The reason why records may share the key; nil if it is certain enough.
    var doubt: String?
    /// The keys that lead to labels of a series, which are the key together; empty without any.
    var labels: [[String]] = []
    /// Whether the record around these is a part of the key: they are rows of a table in it.
    var isWithinParent = false
    /// Whether the key is the last segment of the records' own URLs.
    var isByURL = false
    /// Other fields that would do.
    var alternatives: [String] = []
    /// The key if the record contains no other one: a quantity or a remark that differs by chance.
    var lastResort: LastResort?

    struct LastResort {
        var field: String
        var reason: String
        var doubt: String?
    }
}

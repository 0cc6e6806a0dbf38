/// Features that a store may require of its readers in addition to the format (`MetaKey.features`).
package enum StoreFeature: String {
    /// Divided rows may have packed directories (`PackedDirectory`).
    case packedDirectories = "packed-directories"
    /// An entry of the change log may have several changes (`ChangeGroup`).
    case groupedChanges = "grouped-changes"

    /// The features of a new store.
    static let all: Set<StoreFeature> = [.packedDirectories, .groupedChanges]

    private static func names(_ text: Bytes?) -> [String] {
        String(decoding: text ?? .empty, as: UTF8.self).split(separator: " ").map(String.init)
    }

    /// Returns the features of a store that this version knows.
    static func known(in text: Bytes?) -> Set<StoreFeature> { Set(names(text).compactMap(StoreFeature.init)) }

    /// Returns the features of a store that this version does not know.
    package static func unknown(in text: Bytes?) -> [String] {
        names(text).filter { StoreFeature(rawValue: $0) == nil }
    }

    /// Returns the setting for a set of features.
    static func text(_ features: Set<StoreFeature>) -> String {
        features.map(\.rawValue).sorted().joined(separator: " ")
    }
}

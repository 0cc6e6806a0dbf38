internal import LMDB

/// Features that a store may require of its readers in addition to the format (`MetaKey.features`).
package enum StoreFeature {
    /// None yet.
    private static let known: Set<String> = []

    /// Returns the features of a store that this version does not know.
    package static func unknown(in text: Bytes?) -> [String] {
        let names = String(decoding: text ?? .empty, as: UTF8.self).split(separator: " ").map(String.init)
        return names.filter { !known.contains($0) }
    }
}

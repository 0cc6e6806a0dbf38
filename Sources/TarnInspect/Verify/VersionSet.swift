import TarnStore

/// A set of records with their versions, represented as an `EntrySet` is.
struct VersionSet: Equatable {
    private var entries = EntrySet()

    mutating func add(_ root: UInt16, _ key: Bytes, _ version: UInt64) {
        withUnsafeBytes(of: (version, UInt64(root))) { entries.add(key, $0) }
    }
}

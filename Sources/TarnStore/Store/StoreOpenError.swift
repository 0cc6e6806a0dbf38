// The errors of opening a store.

/// An error of opening a store: the file, its format, its users, or its schema.
///
/// ``description`` names the way out.
public enum StoreOpenError: StoreFailure, Hashable {
    /// No store exists at this path.
    case noSuchStore(path: String)
    /// The path exists, but is not a store.
    case notAStore(path: String, detail: String)
    /// The store has a format newer than this version supports.
    case newerFormat(path: String, found: Int, known: Int)
    /// The store uses a feature that this version does not know, in a format that it knows.
    case unknownFeature(path: String, feature: String)
    /// The store is locked by other processes.
    /// `by`: their names and process ids, as far as the system reports them.
    case storeInUse(path: String, by: [String])
    /// A process of another PID namespace, such as another container, has the store open.
    case pidNamespaceConflict(path: String)
    /// The quota is too small, or larger than the map has room for.
    case quotaOutOfRange(quota: Int, smallest: Int, largest: Int)
    /// The system does not grant this process the address space that the store's quota needs.
    case addressSpace(path: String, needed: Int, granted: Int)
    /// The schema is invalid, or incompatible with the catalog of the store.
    case schema(SchemaError)
    /// A read failed while the store was opened: the file is damaged, or LMDB refuses it.
    case store(StoreError)
    /// A write failed while the store was opened: it is full, or a new unique index has duplicates.
    case write(StoreWriteError)

    public var description: String {
        switch self {
        case .noSuchStore(let path): "\(path): no such store; `tarn sync` creates one"
        case .notAStore(let path, let detail): "\(path): not a Tarn store: \(detail)"
        case .newerFormat(let path, let found, let known):
            "\(path): the store has format \(found), and this version of Tarn supports formats up to \(known); use a newer version"
        case .unknownFeature(let path, let feature):
            "\(path): the store uses the feature `\(feature)`, which this version of Tarn does not support; use a newer version"
        case .storeInUse(let path, let users):
            "\(path): the store is in use by \(users.isEmpty ? "another process" : users.joined(separator: ", ")). A compaction needs it alone, and no other process opens it meanwhile; try again when it is closed"
        case .pidNamespaceConflict(let path):
            "\(path): a process of another PID namespace has the store open; share the namespace (containers: `pid`), or close the store there"
        case .quotaOutOfRange(let quota, let smallest, let largest):
            "invalid quota of \(quota) bytes: it must be from \(smallest) to \(largest)"
        case .addressSpace(let path, let needed, 0):
            "\(path): the system does not grant the \(needed) bytes of address space that the store needs; close other stores, or raise the limit (ulimit -v)"
        case .addressSpace(let path, let needed, let granted):
            "\(path): the store needs \(needed) bytes of address space, but the system grants only \(granted); raise the limit (ulimit -v), or open it read-only"
        case .schema(let error): "the schema does not fit the store: \(error)"
        case .store(let error): error.description
        case .write(let error): error.description
        }
    }
}

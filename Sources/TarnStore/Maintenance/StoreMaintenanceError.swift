// The errors of maintenance.

/// An error of maintenance: backups, salvage, inspection, and removals from the schema.
///
/// ``description`` names the way out.
public enum StoreMaintenanceError: StoreFailure, Hashable {
    /// The path for a new store exists already.
    case destinationExists(path: String)
    /// Commits happened during a read without locks, so the result may mix several of them.
    /// `detail`: the reason why there were no locks.
    case changedMeanwhile(path: String, detail: String)
    /// An entity, field or index was not removed because something else needs it.
    case inUse(entity: String, name: String?, by: String)

    public var description: String {
        switch self {
        case .destinationExists(let path): "\(path): already exists; name another path"
        case .changedMeanwhile(let path, let detail):
            "\(path): another process wrote to the store while it was read without locks, so the result may mix several commits; repeat the read, or give this user permission to lock the store. Reason for reading without locks: \(detail)"
        case .inUse(let entity, let name, let by):
            "cannot remove \(([entity, name] as [String?]).compactMap(\.self).joined(separator: ".")): it is used by \(by); remove that first"
        }
    }
}

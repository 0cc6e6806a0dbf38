import CLMDB

/// The loaded liblmdb.
package enum LMDBLibrary {
    /// The version, such as `0.9.24`.
    package static var version: String {
        var major: Int32 = 0, minor: Int32 = 0, patch: Int32 = 0
        _ = mdb_version(&major, &minor, &patch)
        return "\(major).\(minor).\(patch)"
    }
}

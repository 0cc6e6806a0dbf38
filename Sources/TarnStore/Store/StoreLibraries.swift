import CCrypto
import CZstd
internal import LMDB

/// The versions of the libraries and formats that stores depend on.
package enum StoreLibraries {
    /// The version of liblmdb, such as `0.9.24`.
    package static var lmdb: String { LMDBLibrary.version }
    /// The version of zstd, such as `1.5.4`.
    package static var zstd: String { ZSTD_versionString().map { String(cString: $0) } ?? "unknown" }
    /// The version of OpenSSL, such as `3.0.17`.
    package static var openSSL: String {
        OpenSSL_version(OPENSSL_VERSION_STRING).map { String(cString: $0) } ?? "unknown"
    }
    /// The format of new stores. Older formats, from 1 on, are read and written as well.
    package static var format: Int { Store.format }
}

// The output of `tarn --version`.

import Tarn

enum VersionText {
    /// The version of the program.
    static let number = "0.1.0"

    /// The version of the program, then those of its libraries and formats.
    static var lines: [String] {
        [
            "tarn \(number)", "store format \(StoreLibraries.format) (reads 1 to \(StoreLibraries.format))",
            "Swift \(swift)", "liblmdb \(StoreLibraries.lmdb)", "libcurl \(CurlLibrary.version)",
            "simdjson \(JSONLibrary.version)", "zstd \(StoreLibraries.zstd)", "OpenSSL \(StoreLibraries.openSSL)",
        ]
    }

    /// The version of the compiler, as far as it can be told at run time.
    private static var swift: String {
        #if compiler(>=6.5)
            "6.5 or later"
        #elseif compiler(>=6.4)
            "6.4"
        #elseif compiler(>=6.3)
            "6.3"
        #else
            "6.2"
        #endif
    }
}

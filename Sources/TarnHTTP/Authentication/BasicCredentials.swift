import Foundation

/// The credentials of the Basic scheme.
enum BasicCredentials {
    /// Returns the value of `Authorization` by RFC 7617 §2, in UTF-8.
    static func field(user: String, password: String) -> String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
}

// The places of logins: private files of the user, one for each API of a description.

import Foundation
import Glibc

/// The place of a person's login.
///
/// Logins of two descriptions, APIs, accounts, clients or authorization servers are in different
/// files, each in a folder of its own: processes that share a login lock the folder.
public struct LoginPlace: Sendable, Hashable {
    /// The path of the description file.
    package var file: String
    /// The name of the API; nil for the only one.
    package var api: String?
    /// The token endpoint, which gets the refresh token.
    package var tokenURL: String
    /// The source of the client's identifier, as a text that no other one has.
    private var client: String
    /// The name of the account; nil without one.
    package var account: String?
    /// The path of the login's file; nil for one in the user's folder of logins.
    package var path: String?

    /// Creates the place of a login.
    package init(
        file: String, api: String?, tokenURL: String, client: SecretSource?, account: String?,
        path: String? = nil
    ) {
        self.file = file
        self.api = api
        self.tokenURL = tokenURL
        self.client =
            switch client {
            case .environment(let name): "env \(name)"
            case .file(let path): "file \(path)"
            case .command(let words): "command \(words.joined(separator: " "))"
            case .value(let secret): "value \(secret.exposed)"
            case .login, nil: ""
            }
        self.account = account
        self.path = path
    }

    /// The command that signs in.
    package var command: String {
        // In the quotes of a shell, unless no character of the path has a meaning there.
        let isPlain = file.unicodeScalars.allSatisfy {
            $0.isASCII && ($0.properties.isAlphabetic || "0123456789-_./+@%:,=".unicodeScalars.contains($0))
        }
        let path = isPlain ? file : "'" + file.replacingOccurrences(of: "'", with: #"'\''"#) + "'"
        let words = ["tarn login"] + [api].compactMap(\.self) + (file == "tarn.yaml" ? [] : ["--file \(path)"])
        return words.joined(separator: " ")
    }

    /// Returns the path of the file: the declared one, or one in `XDG_STATE_HOME`, or in
    /// `~/.local/state`.
    ///
    /// - Throws: `SecretError` if there is no such folder.
    package func path(environment: [String: String]) throws(SecretError) -> String {
        if let path { return path }
        // A text with U+FFFD stands for bytes that are not UTF-8, and would be another folder.
        func folder(_ name: String) -> String? {
            environment[name].flatMap { $0.hasPrefix("/") && !$0.unicodeScalars.contains("\u{FFFD}") ? $0 : nil }
        }
        guard let state = folder("XDG_STATE_HOME") ?? folder("HOME").map({ $0 + "/.local/state" }) else {
            throw SecretError(.login(self), "there is no folder for logins (set HOME or XDG_STATE_HOME)")
        }
        return "\(state)/tarn/logins/\(name)/login.json"
    }

    /// Reads the login.
    ///
    /// - Throws: `SecretError` if there is none.
    package func login(environment: [String: String]) throws(SecretError) -> StoredLogin {
        let path = try path(environment: environment)
        guard access(path, F_OK) == 0 else { throw SecretError(.login(self), "nobody is signed in") }
        guard SecretSource.isFile(path), let data = FileManager.default.contents(atPath: path) else {
            throw SecretError(.login(self), "the login in \(path) cannot be read")
        }
        guard data.count <= StoredLogin.sizeLimit, var login = StoredLogin(Array(data)) else {
            throw SecretError(.login(self), "the file \(path) has no login that this version knows")
        }
        // Without an identifier, it is a refresh token from elsewhere: the file stands for the
        // account.
        if login.identifier.isEmpty { login.identifier = "file \(path.split(separator: "/").last ?? "")" }
        return login
    }

    /// Replaces the login. Its folder is for this user only.
    ///
    /// - Returns: 0, or the system's error.
    func save(_ login: StoredLogin, to path: String) -> Int32 {
        // A path without a folder is one of the working directory.
        let folder = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
        do {
            if !folder.isEmpty {
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            }
        } catch {
            let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
            return cause.flatMap { $0.domain == NSPOSIXErrorDomain ? Int32(exactly: $0.code) : nil } ?? EACCES
        }
        return PrivateFile.replace(path, with: login.bytes(for: self))
    }

    /// The name of the folder: readable, and unique to the place.
    private var name: String {
        let parts = [absoluteFile, api ?? "", tokenURL, client, account ?? ""]
        // With their lengths, no two lists of parts are the same text.
        let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
        let digest = OAuth2.digest(Array(text.utf8)).prefix(12)
        let host = (try? HTTPURL(tokenURL))?.host ?? ""
        let readable = (api ?? host).unicodeScalars.prefix(40).map { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar == ".")
                ? Character(scalar) : "-"
        }
        return String(readable) + "-" + digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private var absoluteFile: String {
        let path = PrivateFile.target(of: file)
        return path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }
}

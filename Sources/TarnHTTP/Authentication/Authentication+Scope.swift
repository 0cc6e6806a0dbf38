// The texts that distinguish the accounts of an API. They may hold secrets: they must be hashed.

import Glibc

extension Authentication {
    /// Returns a text that is unique to the account; nil without authentication.
    ///
    /// - Parameters:
    ///   - secrets: the secrets of ``sources``.
    ///   - account: the name of the account; nil if the secrets distinguish accounts.
    func scope(of secrets: [Secret], account: String?) -> Secret? {
        switch self {
        case .none: return nil
        case .signer(let signer): return Secret("signer\n\(signer.name)")
        case .oauth2(let settings):
            // Access tokens change; the account that requests them does not.
            var names = settings.names(of: Authentication.names(of: settings.sources, secrets))
            if case .refreshToken(.file(let path)) = settings.grant {
                // A new token replaces the one in the file.
                names[names.count - 1] = "file " + (path.split(separator: "/").last.map(String.init) ?? path)
            }
            let who = (account ?? settings.account).map { names.prefix(1) + [$0] } ?? names
            return Secret((["oauth2", settings.tokenURL] + who + settings.scopes).joined(separator: "\n"))
        case _ where account != nil: return Secret("account\n\(account ?? "")")
        case .jwt(let token):
            return Secret("jwt\n" + token.identity(of: Authentication.names(of: sources, secrets)))
        case .session(let login):
            let own = login.authentication.scope(of: secrets, account: nil).map { [$0.exposed] } ?? []
            let body = login.authentication.sources.count
            let names = Authentication.names(of: sources, secrets).dropFirst(body)
            return Secret((login.identity + own + names).joined(separator: "\n"))
        default: return Secret(Authentication.names(of: sources, secrets).joined(separator: "\n"))
        }
    }

    /// Returns the text without running a program or reading a pipe.
    ///
    /// - Throws: `SecretError` if a secret cannot be read.
    package func scope(account: String?, environment: [String: String]) throws(SecretError) -> Secret? {
        switch self {
        // The name of the account stands for its secrets.
        case .bearer, .basic, .apiKey, .apiKeys, .jwt, .session:
            if let account { return scope(of: [], account: account) }
        case .none, .oauth2, .signer: break
        }
        var rotating: SecretSource?
        if case .oauth2(let settings) = self, case .refreshToken(let source) = settings.grant { rotating = source }
        var secrets: [Secret] = []
        for source in sources {
            switch source {
            // The text names these sources instead of their secrets.
            case .command: secrets.append(Secret(""))
            case .file where source == rotating: secrets.append(Secret(""))
            case .file(let path) where !SecretSource.isFile(path): throw SecretError(source, "is no file")
            default: secrets.append(try read(source, environment: environment))
            }
        }
        return scope(of: secrets, account: account)
    }

    /// The texts that distinguish the secrets of accounts.
    ///
    /// A program may print another token each time: its call stands for the token.
    private static func names(of sources: [SecretSource], _ secrets: [Secret]) -> [String] {
        zip(sources, secrets).map { source, secret in
            if case .command(let words) = source {
                (["command"] + words).joined(separator: " ")
            } else {
                secret.exposed
            }
        }
    }
}

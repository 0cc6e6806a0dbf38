// The first tokens of a person: settings of the sign-in, and where its tokens are kept.

import Foundation

extension OAuth2 {
    /// The way a person signs in.
    package struct SignIn: Sendable, Hashable {
        /// A grant by which a person signs in.
        package enum Way: String, Sendable, Hashable, CaseIterable {
            /// A code that the person enters on another device (RFC 8628).
            case device
            /// A browser of this machine, which returns to it (RFC 6749 §4.1, RFC 8252 §7.3).
            case browser
        }

        /// The device authorization endpoint (RFC 8628 §3.1); nil for none.
        package var deviceURL: String?
        /// The authorization endpoint (RFC 6749 §3.1); nil for none.
        package var authorizeURL: String?
        /// The revocation endpoint (RFC 7009 §2); nil for none.
        package var revokeURL: String?
        /// The URL that the browser returns to. Without a port, a free one is used.
        package var redirectURL = SignIn.defaultRedirectURL
        /// Additional parameters of both endpoints, such as `access_type`.
        package var parameters: [TransportBody.FormField] = []
        /// Whether a client without a secret authenticates with an empty one, as Reddit expects.
        package var sendsEmptySecret = false

        package static let defaultRedirectURL = "http://127.0.0.1/callback"

        package init(deviceURL: String? = nil, authorizeURL: String? = nil) {
            self.deviceURL = deviceURL
            self.authorizeURL = authorizeURL
        }

        /// The ways that the server has.
        package var ways: [Way] {
            [deviceURL.map { _ in .device }, authorizeURL.map { _ in .browser }].compactMap(\.self)
        }
    }

    /// The state of a sign-in.
    package enum LoginState: Sendable, Hashable {
        /// Nobody is signed in.
        case signedOut
        /// The server accepts the tokens, as far as is known. `endsAt` is the end of an access
        /// token that cannot be renewed; nil if there is none.
        case signedIn(since: Date?, endsAt: Date?)
        /// The server accepts the tokens no longer.
        case ended
    }

    /// The place of a person's login; nil if no person signs in.
    package var loginPlace: LoginPlace? {
        if signIn != nil, case .refreshToken(.login(let place)) = grant { place } else { nil }
    }

    /// Returns the state of the sign-in, from what is kept; nil if no person signs in.
    package func loginState(environment: [String: String], now: Date = Date()) -> LoginState? {
        guard let loginPlace else { return nil }
        guard let login = try? loginPlace.login(environment: environment) else { return .signedOut }
        let end = login.refresh == nil ? login.endsAt : nil
        if login.isRefused || end.map({ $0 <= now }) ?? false { return .ended }
        return .signedIn(since: login.signedInAt, endsAt: end)
    }

    /// Returns the state of the sign-in for people, without a secret; nil if no person signs in.
    package func loginText(environment: [String: String], now: Date = Date()) -> (state: LoginState, text: String)? {
        guard let state = loginState(environment: environment, now: now), let loginPlace else { return nil }
        let text =
            switch state {
            case .signedOut: "nobody is signed in: sign in with `\(loginPlace.command)`"
            case .ended: "the login has ended: sign in again with `\(loginPlace.command)`"
            case .signedIn(let since, let end):
                "signed in" + (since.map { " since \($0.ISO8601Format())" } ?? "")
                    + (end.map { ", until \($0.ISO8601Format())" } ?? "")
            }
        return (state, text)
    }

    /// Returns the time from which an access token is not used; nil if it does not expire.
    func end(of token: Token, asked: Date) -> Date? {
        token.lifetime.map { asked.addingTimeInterval(max($0 - leeway.inSeconds, $0 / 2)) }
    }

    /// Returns the reason why a browser cannot return to a URL; nil if it can.
    package static func problem(ofRedirectURL text: String) -> String? {
        let url: HTTPURL
        do throws(HTTPURLError) { url = try HTTPURL(text) } catch { return error.reason }
        guard url.scheme == "http", ["127.0.0.1", "localhost"].contains(url.host) else {
            return "the browser returns to this machine: write http://127.0.0.1:8888/callback"
        }
        guard url.query == nil, !text.contains("#") else { return "remove the query and the fragment" }
        return url.writtenPort == 0 ? "leave the port out for a free one" : nil
    }
}

extension Authentication {
    /// The settings by which a person signs in; nil if none does.
    package var signIn: OAuth2? {
        if case .oauth2(let settings) = self, settings.signIn != nil { settings } else { nil }
    }
}

// The tokens of a person's login, as a private file keeps them.

import Foundation

/// The tokens of a login.
package struct StoredLogin: Sendable {
    /// The random identifier of the login, by which stored responses belong to it. It is no secret.
    ///
    /// Renewals keep it. Every sign-in has a new one: another person may have signed in.
    var identifier: String
    /// The time of the sign-in.
    package var signedInAt: Date?
    /// The access token; nil if the file has only a refresh token from elsewhere.
    var access: Secret?
    /// The time from which the access token is not used; nil if it does not expire.
    package var endsAt: Date?
    /// The refresh token; nil if the server has issued none.
    var refresh: Secret?
    /// Whether the server has refused the tokens for good.
    package var isRefused = false

    /// The maximum size of a file, in bytes: twice that of an answer of the server.
    static let sizeLimit = 256 << 10

    /// Creates the login of a sign-in from the tokens of its server.
    init(_ token: OAuth2.Token, endsAt: Date?, at now: Date) {
        identifier = JSONWebToken.base64URL(OAuth2.random(16))
        signedInAt = now
        access = token.access
        self.endsAt = endsAt
        refresh = token.refresh
    }

    /// Parses the content of a file: a login, or the line of a refresh token. Nil for others.
    init?(_ bytes: [UInt8]) {
        guard let object = JSONBody(parsing: bytes.withoutMark), case .object = object else {
            let line = String(validating: bytes.withoutMark, as: UTF8.self)?.trimmingCharacters(in: .newlines)
            guard let line, StoredLogin.isToken(line, from: 0x20) else { return nil }
            (identifier, refresh) = ("", Secret(line))
            return
        }
        guard object.number(of: "version") == 1, let identifier = object.text(of: "id") else { return nil }
        let access = object.text(of: "access_token"), refresh = object.text(of: "refresh_token")
        guard access != nil || refresh != nil, access.map({ StoredLogin.isToken($0, from: 0x21) }) ?? true,
            refresh.map({ StoredLogin.isToken($0, from: 0x20) }) ?? true
        else { return nil }
        self.identifier = identifier
        self.access = access.map(Secret.init)
        self.refresh = refresh.map(Secret.init)
        signedInAt = object.number(of: "signed_in_at").map(Date.init(timeIntervalSince1970:))
        endsAt = object.number(of: "ends_at").map(Date.init(timeIntervalSince1970:))
        isRefused = object[["refused"]] == .bool(true)
    }

    /// Whether a text can be in a header field, or in a line of a file.
    private static func isToken(_ text: String, from first: UInt32) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                $0.value >= first && ($0.value < 0x7F || first == 0x20 && $0.value > 0x7F)
            }
    }

    /// Returns the content of the file, with the names of its place for readers.
    func bytes(for place: LoginPlace) -> [UInt8] {
        var members: [JSONBody.Member] = [
            .init("version", .number("1")), .init("description", .string(place.file)),
        ]
        if let api = place.api { members.append(.init("api", .string(api))) }
        members.append(.init("id", .string(identifier)))
        if let signedInAt { members.append(.init("signed_in_at", .number(StoredLogin.seconds(signedInAt)))) }
        if let access { members.append(.init("access_token", .string(access.exposed))) }
        if let endsAt { members.append(.init("ends_at", .number(StoredLogin.seconds(endsAt)))) }
        if let refresh { members.append(.init("refresh_token", .string(refresh.exposed))) }
        if isRefused { members.append(.init("refused", .bool(true))) }
        return Array((JSONBody.object(members).text + "\n").utf8)
    }

    /// Whole seconds: a lifetime of any length is a number.
    private static func seconds(_ date: Date) -> String {
        String(Int64(min(max(date.timeIntervalSince1970, -1e15), 1e15)))
    }

    /// Takes the tokens of a renewal. A server that issues no new refresh token keeps the old one
    /// (RFC 6749 §6).
    mutating func renew(_ token: OAuth2.Token, endsAt: Date?) {
        access = token.access
        self.endsAt = endsAt
        refresh = token.refresh ?? refresh
        isRefused = false
    }

    /// Whether the access token can be used, other than one that the API has refused.
    func isValid(at now: Date, besides refused: Secret?) -> Bool {
        access != nil && access != refused && endsAt.map { $0 > now } ?? true
    }
}

// The schema of `auth`.

import Tarn
import TarnHTTP

extension DescriptionSchema {
    static var authentication: SchemaNode {
        .object(
            schemes + [
                Property(
                    name: "oauth2", about: "OAuth 2.0: a sign-in, client credentials, a refresh token or an assertion.",
                    node: oauth2),
                Property(name: "session", about: "A session that is logged in to.", node: session),
                Property(name: "account", about: "A name for the account that the secret belongs to.", node: .text),
            ], required: [])
    }

    /// The schemes that a login may have, too.
    private static var schemes: [Property] {
        let secret = SchemaNode.reference("secret"), public_ = SchemaNode.either([.text, secret])
        return [
            Property(name: "bearer", about: "A bearer token.", node: secret),
            Property(
                name: "basic", about: "A user and a password.",
                node: .object(
                    [
                        Property(name: "user", about: "The user's name.", node: public_),
                        Property(name: "password", about: "The password.", node: secret),
                    ], required: ["user", "password"])),
            Property(
                name: "api_key", about: "Keys in header fields, a parameter or cookies.", node: .oneOrMore(apiKey)),
            Property(
                name: "jwt", about: "A token that the client signs.",
                node: token([Property(name: "send", about: "The place of the token.", node: place)])),
        ]
    }

    private static var places: [Property] {
        [
            Property(name: "prefix", about: "A text before the key in the header field.", node: .text),
            Property(name: "header", about: "The header field.", node: .text),
            Property(name: "query", about: "The query parameter.", node: .text),
            Property(name: "cookie", about: "The cookie.", node: .text),
        ]
    }

    private static var place: SchemaNode { .object(places, required: []) }

    private static var apiKey: SchemaNode {
        .object([Property(name: "key", about: "The key.", node: .reference("secret"))] + places, required: ["key"])
    }

    private static func token(_ others: [Property] = []) -> SchemaNode {
        let secret = SchemaNode.reference("secret")
        return .object(
            [
                Property(name: "key", about: "The private key in PEM, or a shared key.", node: secret),
                Property(
                    name: "algorithm", about: "The algorithm of the signature.",
                    node: words(JSONWebToken.Algorithm.self)),
                Property(name: "key_form", about: "The form of a shared key.", node: words(JSONWebToken.KeyForm.self)),
                Property(name: "key_id", about: "The name of the key.", node: .either([.text, secret])),
                Property(name: "passphrase", about: "The passphrase of the private key.", node: secret),
                Property(name: "claims", about: "The claims besides iat and exp.", node: .map(.any)),
                Property(name: "fields", about: "Further members of the header.", node: .map(.any)),
                Property(name: "lifetime", about: "Seconds from iat to exp.", node: .number),
            ] + others, required: ["key"])
    }

    private static var oauth2: SchemaNode {
        let secret = SchemaNode.reference("secret")
        return .object(
            [
                Property(name: "token_url", about: "The URL of the token endpoint.", node: .text),
                Property(name: "client_id", about: "The client's identifier.", node: .either([.text, secret])),
                Property(name: "client_secret", about: "The client's secret.", node: secret),
                Property(name: "client_key", about: "The key that authenticates the client.", node: token()),
                Property(
                    name: "client_auth", about: "Where the client's secret is sent.",
                    node: words(OAuth2.ClientAuthentication.self)),
                Property(name: "refresh_token", about: "The refresh token.", node: secret),
                Property(name: "device_url", about: "The device authorization endpoint of a sign-in.", node: .text),
                Property(name: "authorize_url", about: "The authorization endpoint of a sign-in.", node: .text),
                Property(name: "revoke_url", about: "The revocation endpoint, for `tarn logout`.", node: .text),
                Property(name: "redirect_url", about: "The URL that the browser returns to.", node: .text),
                Property(
                    name: "login_params", about: "Further parameters of a sign-in, such as access_type.",
                    node: .map(.text)),
                Property(name: "assertion", about: "The assertion of the account.", node: token()),
                Property(name: "scopes", about: "The scopes.", node: .oneOrMore(.text)),
                Property(name: "params", about: "Further parameters of token requests.", node: .map(.text)),
                Property(name: "account", about: "A name for the account, if there are several.", node: .text),
            ], required: ["token_url"])
    }

    private static var session: SchemaNode {
        let value = SchemaNode.object(
            [
                Property(name: "path", about: "A member of the body; $ for a body that is the token.", node: .text),
                Property(name: "header", about: "A header field.", node: .text),
                Property(name: "cookie", about: "A cookie.", node: .text),
                Property(name: "send", about: "The place of the token in requests.", node: place),
            ], required: [])
        return .object(
            [
                Property(name: "login", about: "The path of the login, or its URL.", node: .text),
                Property(name: "method", about: "The method of the login.", node: .words(["GET", "POST", "PUT"])),
                Property(name: "headers", about: "Header fields of the login.", node: .map(.text)),
                Property(name: "json", about: "The body, with places of secrets.", node: .any),
                Property(name: "form", about: "The fields of the form, with places of secrets.", node: .map(.any)),
                Property(
                    name: "auth", about: "The authentication of the login itself.",
                    node: .object(schemes, required: [])),
                Property(
                    name: "token", about: "The tokens in the answer to the login.",
                    node: .oneOrMore(.either([.text, value]))),
                Property(name: "expires", about: "The member with the end of the session.", node: .text),
                Property(name: "lifetime", about: "Seconds that a session lasts.", node: .number),
                Property(
                    name: "logout", about: "The end of a session that is not needed any more.",
                    node: .object(
                        [
                            Property(name: "method", about: "The method.", node: .text),
                            Property(name: "path", about: "The path, or a URL.", node: .text),
                            Property(name: "header", about: "The header field with the URL.", node: .text),
                        ], required: [])),
            ], required: ["login", "token"])
    }
}

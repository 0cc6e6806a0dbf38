// The key `oauth2` of `auth`: the token endpoint, the client, and how a person signs in.

import TarnHTTP

extension DescriptionReader {
    private static let clientKeys = [
        "token_url", "client_id", "client_secret", "client_key", "client_auth", "refresh_token", "assertion", "scopes",
        "params", "account",
    ]
    /// The keys of a sign-in. Either of the first two begins one.
    private static let signInKeys = ["device_url", "authorize_url", "revoke_url", "redirect_url", "login_params"]
    /// The parameters of an authorization request that Tarn sets itself.
    private static let ownParameters = [
        "response_type", "client_id", "redirect_uri", "state", "code_challenge", "code_challenge_method",
    ]

    mutating func oauth2(_ value: YAMLValue, _ field: String) -> Authentication? {
        guard
            let section = section(
                value, field, keys: DescriptionReader.clientKeys + DescriptionReader.signInKeys,
                required: ["token_url"] + (isAssertion(value) ? [] : ["client_id"]),
                instead: [
                    "authorization_url": "write authorize_url", "device_authorization_url": "write device_url",
                    "redirect_uri": "write redirect_url", "revocation_url": "write revoke_url",
                    "redirect_port": "write redirect_url: 'http://127.0.0.1:8888/callback'",
                ],
                example: ["token_url": "token_url: https://auth.example.org/token", "client_id": "client_id: tarn"])
        else { return nil }
        let url = serverURL(section, "token_url")
        let client = textOrSecret(section, "client_id")
        let clientSecret = section["client_secret"].flatMap { secret($0, section.path("client_secret")) }
        let refresh = section["refresh_token"].flatMap { secret($0, section.path("refresh_token")) }
        let clientKey = section["client_key"].flatMap { token($0, section.path("client_key"), isSent: false) }
        let assertion = section["assertion"].flatMap { token($0, section.path("assertion"), isSent: false) }
        checkCombination(section, isAssertion: isAssertion(value))
        let parameters = fields(section, "params"), scopes = texts(section, "scopes").map(\.text)
        let clientAuthentication: OAuth2.ClientAuthentication? = word(
            section, "client_auth", "client authentication")
        let account = text(section, "account")
        var signIn = self.signIn(section)
        if clientAuthentication == .basic, clientSecret == nil, clientKey == nil { signIn?.sendsEmptySecret = true }
        guard let url, client != nil || assertion != nil else { return nil }
        var settings = OAuth2(
            tokenURL: url, clientID: client, clientSecret: clientSecret, scopes: scopes, parameters: parameters,
            account: account)
        if let clientAuthentication { settings.clientAuthentication = clientAuthentication }
        settings.clientKey = clientKey
        settings.signIn = signIn
        if signIn != nil {
            let path: String? = if case .file(let path) = refresh { path } else { nil }
            let place = LoginPlace(
                file: DescriptionFolder.named(file), api: currentAPI.name, tokenURL: url, client: client,
                account: account, path: path)
            settings.grant = .refreshToken(.login(place))
        } else if let refresh {
            settings.grant = .refreshToken(refresh)
        }
        if let assertion { settings.grant = .assertion(assertion) }
        return .oauth2(settings)
    }

    /// Reads the settings of a sign-in; nil without one.
    private mutating func signIn(_ section: Section) -> OAuth2.SignIn? {
        var signIn = OAuth2.SignIn(
            deviceURL: serverURL(section, "device_url"), authorizeURL: serverURL(section, "authorize_url"))
        signIn.revokeURL = serverURL(section, "revoke_url")
        if let redirect = text(section, "redirect_url") {
            if let problem = OAuth2.problem(ofRedirectURL: redirect) {
                report(section, "redirect_url", problem)
            } else {
                signIn.redirectURL = redirect
            }
        }
        signIn.parameters = fields(section, "login_params")
        for parameter in signIn.parameters {
            let field = "\(section.path("login_params")).\(parameter.name)"
            if parameter.name == "scope" { report(at: field, "write the scopes under scopes") }
            if DescriptionReader.ownParameters.contains(parameter.name) {
                report(at: field, "tarn sets this parameter itself: remove it")
            }
        }
        return section["device_url"] == nil && section["authorize_url"] == nil ? nil : signIn
    }

    /// Reports keys that are missing, or exclude each other.
    private mutating func checkCombination(_ section: Section, isAssertion: Bool) {
        let begins = ["device_url", "authorize_url"]
        let isSignIn = begins.contains { section[$0] != nil }
        if !isSignIn, ["client_secret", "refresh_token", "client_key", "assertion"].allSatisfy({ section[$0] == nil }) {
            report(
                section.path("client_secret"), section.mark,
                "missing: write client_secret: { env: … }, refresh_token: { file: … }, or device_url or authorize_url "
                    + "for `tarn login`")
        }
        let replaced = [("client_key", "client_secret"), ("assertion", "refresh_token")]
        for (key, other) in replaced + begins.map({ ("assertion", $0) })
        where section[key] != nil && section[other] != nil {
            report(section, key, "replaces \(other): remove one of the two")
        }
        for key in ["client_secret", "client_key"] where section[key] != nil && section["client_id"] == nil {
            if isAssertion { report(section, key, "needs a client_id: add it") }
        }
        for key in DescriptionReader.signInKeys.dropFirst(2) where section[key] != nil && !isSignIn {
            report(section, key, "belongs to a sign-in: add device_url or authorize_url")
        }
        if section["redirect_url"] != nil, section["authorize_url"] == nil, isSignIn {
            report(section, "redirect_url", "a device has no redirect: add authorize_url, or remove it")
        }
        if isSignIn, case .mapping(let entries) = section["refresh_token"]?.content,
            entries.contains(where: { ["env", "command"].contains($0.key) })
        {
            report(
                section, "refresh_token",
                "a login is kept in a file: write refresh_token: { file: PATH }, or remove it for the user's own folder"
            )
        }
    }

    /// Reads the URL of an authorization server.
    private mutating func serverURL(_ section: Section, _ key: String) -> String? {
        guard let url = text(section, key) else { return nil }
        if let problem = OAuth2.problem(ofTokenURL: url) { report(section, key, problem) }
        return url
    }

    private mutating func fields(_ section: Section, _ key: String) -> [TransportBody.FormField] {
        entries(section, key, of: "names to values").compactMap { entry in
            text(entry.value, "\(section.path(key)).\(entry.key)").map { TransportBody.FormField(entry.key, $0) }
        }
    }

    /// Whether an assertion names the account, so that no client need be named.
    private func isAssertion(_ oauth2: YAMLValue) -> Bool {
        guard case .mapping(let entries) = oauth2.content else { return false }
        return entries.contains { $0.key == "assertion" }
    }
}

extension Authentication {
    /// Returns the scheme with the name of the account that is declared beside it: it separates
    /// logins, too.
    func naming(account: String?) -> Authentication {
        guard let account, case .oauth2(var settings) = self, var place = settings.loginPlace, place.account == nil
        else { return self }
        place.account = account
        settings.grant = .refreshToken(.login(place))
        return .oauth2(settings)
    }
}

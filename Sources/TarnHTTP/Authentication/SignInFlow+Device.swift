// The device authorization grant (RFC 8628): a code that the person enters on another device.

import Foundation

extension SignInFlow {
    /// The answer of the device authorization endpoint (RFC 8628 §3.2).
    struct DeviceCode: Sendable {
        var device: Secret
        var user: String
        var url: String
        var complete: String?
        /// The lifetime of the codes, in seconds.
        var lifetime: Double
        /// The seconds between two requests for the token.
        var interval: Double

        /// Parses an answer; nil if a part is missing, or is not what a person can use.
        init?(_ object: JSONBody) {
            // `verification_url` is Google's name.
            guard let device = object.text(of: "device_code"), !device.isEmpty,
                let user = object.text(of: "user_code"), !user.isEmpty, user.utf8.count <= 200,
                user.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value < 0x7F }),
                let url = object.text(of: "verification_uri") ?? object.text(of: "verification_url"),
                DeviceCode.isPage(url)
            else { return nil }
            self.device = Secret(device)
            self.user = user
            self.url = url
            let complete =
                object.text(of: "verification_uri_complete")
                ?? object.text(of: "verification_url_complete")
            self.complete = complete.flatMap { DeviceCode.isPage($0) ? $0 : nil }
            lifetime = min(max(object.number(of: "expires_in") ?? 900, 1), 3600)
            interval = min(max(object.number(of: "interval") ?? 5, 1), 300)
        }

        /// Whether a URL is one that tokens are requested from, too: encrypted, or on this machine.
        private static func isPage(_ url: String) -> Bool {
            url.utf8.count <= 4096 && OAuth2.problem(ofTokenURL: url) == nil
        }
    }

    /// The seconds by which `slow_down` extends the interval (RFC 8628 §3.5).
    private static let slowDown = 5.0
    private static let longestInterval = 300.0

    /// Asks for a code, shows it, and requests the token until the person has decided.
    func deviceToken(
        _ secrets: [Secret], _ prompt: @Sendable (Prompt) -> Void
    ) async throws(TransportError) -> (OAuth2.Token, asked: Date) {
        let begin = time.now(), code = try await deviceCode(secrets)
        let end = begin.addingTimeInterval(code.lifetime)
        prompt(.device(code: code.user, url: code.url, complete: code.complete, until: end))
        var interval = code.interval
        while true {
            do { try await time.sleep(.seconds(clamping: interval)) } catch {
                throw self.error("the task was cancelled", kind: .cancelled)
            }
            let asked = time.now()
            guard asked < end else { throw expired }
            let answer: Result<OAuth2.Token, OAuth2Refusal>
            do throws(TransportError) {
                answer = try await endpoint.token(secrets, for: .deviceCode(code.device))
            } catch {
                // RFC 8628 §3.5: after a connection that timed out, requests become rarer.
                guard [.timeout, .connect, .resolve, .cutShort].contains(error.kind) else { throw error }
                interval = min(interval * 2, SignInFlow.longestInterval)
                continue
            }
            switch answer {
            case .success(let token): return (token, asked)
            case .failure(let refusal):
                switch refusal.error {
                case "authorization_pending": continue
                case "slow_down": interval = min(interval + SignInFlow.slowDown, SignInFlow.longestInterval)
                case "expired_token": throw expired
                case "access_denied", "authorization_declined": throw refused("access_denied", nil, of: nil)
                // The server cannot answer now.
                case _ where refusal.kind != .credentials:
                    interval = min(interval + SignInFlow.slowDown, SignInFlow.longestInterval)
                default: throw endpoint.error(refusal)
                }
            }
        }
    }

    private var expired: TransportError {
        error("the code has expired: run `\(place.command)` again")
    }

    /// Requests the codes.
    ///
    /// The first request only names the client, as most programs do: servers may refuse further
    /// parameters. One that wants the client authenticated (RFC 8628 §3.1) gets a second request.
    private func deviceCode(_ secrets: [Secret]) async throws(TransportError) -> DeviceCode {
        guard let url = signIn.deviceURL else { throw error("no device_url is declared") }
        let all = try endpoint.credentials(secrets)
        var form: [TransportBody.FormField] = []
        if !settings.scopes.isEmpty { form.append(.init("scope", settings.scopes.joined(separator: " "))) }
        form += signIn.parameters
        let isPublic = all.clientSecret == nil && all.clientAssertion == nil
        var named = OAuth2.Credentials()
        named.clientID = all.clientID
        for credentials in isPublic ? [all] : [named, all] {
            let request = settings.request(to: url, form, credentials)
            let response = try await endpoint.send(request, secrets, credentials, hiding: [])
            let body = response.body.withoutMark
            let object = body.count <= 64 << 10 ? JSONBody(parsing: body) ?? .null : .null
            if response.status == 200, let code = DeviceCode(object) { return code }
            let mayRepeat = credentials.clientSecret == nil && credentials.clientAssertion == nil && !isPublic
            if mayRepeat, response.status == 401 || object.text(of: "error") == "invalid_client" { continue }
            guard case .failure(var refusal) = OAuth2.token(from: response) else { break }
            if refusal.error == nil, response.status == 200 { refusal.reason = "returned no code for a device" }
            throw endpoint.error(refusal, of: url)
        }
        throw error("\(Redaction.url(url)) returned no code for a device", of: url)
    }
}

// An authorization server and its API on one port, for sign-ins of the real program.

import Foundation
import Synchronization
import TestSupport

/// Issues numbered tokens, accepts the newest ones only, and lists one item to those with a token.
final class SignInService: Sendable {
    struct State: Sendable {
        /// The answers of the token endpoint before it issues tokens, by their error codes.
        var errors: [String] = []
        var issued = 0
        var expiresIn = 3600
        var interval = 1
        /// Whether the server accepts neither the access token nor the refresh token any more.
        var isRevoked = false
        var forms: [[String: String]] = []
    }

    private final class Shared: Sendable {
        let state = Mutex(State())
    }

    private let shared = Shared()
    private let server: ScriptedServer

    var base: String { server.base }
    var state: State { shared.state.withLock(\.self) }
    func change(_ body: (inout State) -> Void) { shared.state.withLock { body(&$0) } }
    /// The forms of the token requests with a grant.
    func forms(_ grant: String) -> [[String: String]] {
        state.forms.filter { $0["grant_type"]?.hasSuffix(grant) == true }
    }
    var requests: [ScriptedServer.Request] { server.requests }

    init() throws {
        server = try ScriptedServer { [shared] request in
            shared.state.withLock { SignInService.answer(request, &$0) }
        }
    }

    private static func fields(_ text: some StringProtocol) -> [String: String] {
        text.split(separator: "&").reduce(into: [:]) { fields, part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            fields[String(pair[0])] = pair.last.flatMap { String($0).removingPercentEncoding } ?? ""
        }
    }

    private static func answer(_ request: ScriptedServer.Request, _ state: inout State) -> ScriptedServer.Answer {
        let field = ["Content-Type: application/json"]
        func answer(_ body: String, status: String = "200 OK") -> ScriptedServer.Answer {
            .init(status: status, fields: field, body: body)
        }
        switch request.target.prefix(while: { $0 != "?" }) {
        case "/device":
            return answer(
                #"{"device_code":"device-hush","user_code":"ABCD-EFGH","verification_uri":"https://auth.example/enter","#
                    + #""expires_in":60,"interval":\#(state.interval)}"#)
        case "/token":
            let form = fields(request.body)
            state.forms.append(form)
            if !state.errors.isEmpty {
                return answer(#"{"error":"\#(state.errors.removeFirst())"}"#, status: "400 Bad Request")
            }
            if let old = form["refresh_token"], old != "refresh-hush-\(state.issued)" || state.isRevoked {
                return answer(#"{"error":"invalid_grant"}"#, status: "400 Bad Request")
            }
            state.issued += 1
            state.isRevoked = false
            return answer(
                #"{"access_token":"access-hush-\#(state.issued)","refresh_token":"refresh-hush-\#(state.issued)","#
                    + #""token_type":"Bearer","expires_in":\#(state.expiresIn)}"#)
        case "/revoke":
            state.isRevoked = true
            state.forms.append(fields(request.body).merging(["grant_type": "revoke"]) { $1 })
            return answer("{}")
        default:
            let isValid = request.field("Authorization") == "Bearer access-hush-\(state.issued)" && !state.isRevoked
            return isValid ? answer(#"[{"id":1,"name":"one"}]"#) : answer("{}", status: "401 Unauthorized")
        }
    }

    /// The section of `auth` for this server.
    func auth(_ more: String = "") -> String {
        "{ oauth2: { token_url: '\(base)/token', device_url: '\(base)/device', authorize_url: '\(base)/authorize', "
            + "client_id: tarn, scopes: [read]\(more) } }"
    }
}

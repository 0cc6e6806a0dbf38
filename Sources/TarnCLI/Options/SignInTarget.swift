import Foundation
import Tarn

/// The API of a description that a person signs in to.
struct SignInTarget {
    /// The name for people: that of the API, or its server.
    var name: String
    var flow: SignInFlow
    var signIn: OAuth2.SignIn

    /// Finds the API.
    ///
    /// - Parameter api: the name of the API; nil for the only one with a sign-in.
    /// - Throws: `Failure` with `.usage` if there is none, or if several ones come into question.
    init(_ description: Description, api: String?) throws {
        let known = description.apis.compactMap(\.name)
        if let api, !known.contains(api) {
            let text =
                known.isEmpty
                ? "there is a single API, without a name: leave \(api) out" : Spelling.unknown("API", api, among: known)
            throw Failure(.usage, "\(description.file): \(text)")
        }
        let found = description.apis.filter { $0.api.authentication.signIn != nil && (api == nil || $0.name == api) }
        guard let (name, declared) = found.first, let settings = declared.authentication.signIn else {
            throw Failure(
                .usage,
                "\(description.file): \(api ?? "the API") has no sign-in: write oauth2 with device_url or "
                    + "authorize_url under auth")
        }
        guard found.count == 1 else {
            let names = found.compactMap(\.name).joined(separator: ", ")
            throw Failure(.usage, "\(description.file): several APIs have a sign-in: name one of \(names)")
        }
        let flow = SignInFlow(
            settings, transport: CurlTransport(declared.transport), environment: ProcessInfo.processInfo.environment)
        guard let flow, let signIn = settings.signIn else { throw Failure(.usage, "there is no sign-in") }
        self.name = name ?? (try? HTTPURL(declared.base))?.host ?? "the API"
        self.flow = flow
        self.signIn = signIn
    }
}

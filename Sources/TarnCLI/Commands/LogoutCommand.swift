// `tarn logout`: the end of a login.

import ArgumentParser
import Tarn

struct LogoutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "End the login of an API: remove its tokens, and have the server revoke them.",
        discussion: """
            With revoke_url under auth.oauth2, the server revokes the tokens. Otherwise it still accepts them: end the \
            access in the settings of the account there. Records and queued changes stay. The exit code is 3 if the \
            tokens are removed, and the server could not be told.

            Examples:
              tarn logout
              tarn logout crm
            """)

    @Argument(help: "The API, if several have a sign-in.") var api: String?
    @OptionGroup var description: DescriptionOption

    func run() async throws {
        let target = try SignInTarget(try description.load(), api: api), name = target.name
        let advice = "the server may still accept the tokens: end the access in the settings of the account there"
        try await FollowedTask.run {
            switch try await target.flow.end() {
            case .wasSignedOut: Output.line("nobody is signed in to \(name)")
            case .revoked: Output.line("signed out of \(name): the server has revoked the login")
            case .forgotten: Output.line("signed out of \(name); without revoke_url, \(advice)")
            case .notRevoked(let error):
                throw Failure(.partly, "signed out of \(name), but not at the server: \(error); \(advice)")
            }
        }
    }
}

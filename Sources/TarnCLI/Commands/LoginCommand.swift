// `tarn login`: a person signs in to an API, once.

import ArgumentParser
import Foundation
import Tarn

struct LoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Sign in to an API, once: by a code on any device, or in a browser of this machine.",
        discussion: """
            The description declares the servers: device_url or authorize_url under auth.oauth2. The tokens are kept in \
            a private file of this user, for this description and API, and are renewed by themselves. Without a \
            terminal, the URL and the code are lines on standard error. The exit code is 4 if the sign-in is denied.

            Examples:
              tarn login
              tarn login crm --device --no-open
              tarn logout
            """)

    @Argument(help: "The API, if several have a sign-in.") var api: String?
    @Flag(help: "Enter a code in a browser of any device.") var device = false
    @Flag(help: "Use a browser of this machine.") var browser = false
    @Flag(help: "Print the URL, and do not open it.") var noOpen = false
    @OptionGroup var description: DescriptionOption

    func validate() throws {
        if device, browser { throw ValidationError("--device and --browser exclude each other") }
    }

    func run() async throws {
        let target = try SignInTarget(try description.load(), api: api), way = try way(of: target.signIn)
        let opens = !noOpen && LoginCommand.hasDisplay
        try await FollowedTask.run {
            do throws(TransportError) {
                let path = try await target.flow.begin(by: way) { LoginCommand.show($0, opens: opens) }
                Output.line("signed in to \(target.name); the login is kept in \(path)")
            } catch {
                if error.kind == .cancelled { throw Failure(.interrupted, "") }
                throw error
            }
        }
    }

    /// Returns the way that the options choose; a browser of this machine only if there may be one.
    private func way(of signIn: OAuth2.SignIn) throws -> OAuth2.SignIn.Way {
        let chosen: OAuth2.SignIn.Way? = device ? .device : browser ? .browser : nil
        if let chosen, !signIn.ways.contains(chosen) {
            let key = chosen == .device ? "device_url" : "authorize_url"
            throw Failure(.usage, "--\(chosen.rawValue) needs \(key) under auth.oauth2 in the description")
        }
        let preferred: OAuth2.SignIn.Way = LoginCommand.hasDisplay ? .browser : .device
        return chosen ?? (signIn.ways.contains(preferred) ? preferred : signIn.ways.first ?? preferred)
    }

    /// Whether a person sits at a screen of this machine.
    private static var hasDisplay: Bool {
        let environment = ProcessInfo.processInfo.environment
        func isSet(_ name: String) -> Bool { environment[name].map { !$0.isEmpty } ?? false }
        return Output.errorIsTerminal && !isSet("SSH_CONNECTION") && (isSet("DISPLAY") || isSet("WAYLAND_DISPLAY"))
    }

    /// Shows an instruction. Lines for people are on standard error.
    private static func show(_ prompt: SignInFlow.Prompt, opens: Bool) {
        switch prompt {
        case .device(let code, let url, let complete, let until):
            Output.note("open \(url) in any browser, and enter the code \(code)")
            if let complete, complete != url { Output.note("or open \(complete)") }
            Output.note("waiting until \(until.ISO8601Format())")
        case .browser(let url):
            Output.note("open this URL in a browser of this machine:")
            // The line is for copying: it is not cut.
            Output.notes(VisibleText.line(url, limit: .max))
        }
        guard opens else { return }
        if ChildProcess.start(["xdg-open", prompt.url], isQuiet: true) == nil {
            Output.note("xdg-open is not installed: open the URL yourself")
        }
    }
}

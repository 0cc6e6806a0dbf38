// `tarn init`: proposes a description file from live answers, files, or a specification.

import ArgumentParser
import Foundation
import Tarn
import TarnProposal

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Propose a description file from live answers, JSON files, or an OpenAPI document.",
        discussion: """
            Looks at the first pages of each URL, and of each list that an index of lists names, and writes a \
            tarn.yaml that `tarn sync` runs as it is. A comment explains each guess. The file is checked before it is \
            written: it imports the pages that were looked at. From an OpenAPI document, it also has the requests \
            that change records (`write`), which `tarn push` sends.

            Examples:
              tarn init https://api.example.org/v1/issues
              tarn init https://api.example.org/users 'https://api.example.org/posts?_page=1&_limit=50'
              tarn init https://api.example.org/issues --auth-env API_TOKEN --sample 10
              tarn init --openapi https://api.example.org/openapi.json
              tarn init --openapi spec.yaml --live --auth-env API_TOKEN
              tarn init answer.json --base https://api.example.org --output -
            """)

    @Argument(help: ArgumentHelp("URLs of lists or of an index of lists, or JSON files.", valueName: "url"))
    var targets: [String] = []
    @Option(help: ArgumentHelp("OpenAPI 3.0 or 3.1 document, in JSON or YAML.", valueName: "file|url"))
    var openapi: String?
    @Flag(help: "With --openapi: also look at the lists of the server.") var live = false
    @Option(name: [.short, .long], help: ArgumentHelp("File to write; - prints it.", valueName: "path"))
    var output = "tarn.yaml"
    @Flag(help: "Overwrite the file.") var force = false
    @Option(help: ArgumentHelp("Pages of each list to look at.", valueName: "pages")) var sample = 3
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("Request header field, as 'Name: value'. May be repeated.", valueName: "field"))
    var header: [String] = []
    @Option(help: ArgumentHelp("Environment variable with a bearer token.", valueName: "name")) var authEnv: String?
    @Option(help: ArgumentHelp("Base URL of the API (default: from the URLs).", valueName: "url")) var base: String?
    @Flag(name: [.short, .long], help: "Ask no questions.") var yes = false
    @Flag(name: [.short, .long], help: "Do not print what was looked at.") var quiet = false

    func run() async throws {
        try validateOptions()
        var options = ProposalOptions()
        options.base = base
        options.tokenVariable = authEnv
        options.headers = try fields()
        let asks = !yes && output != "-" && isatty(STDIN_FILENO) == 1 && Output.isTerminal && Output.errorIsTerminal
        if asks { try StandardInput.require() }
        let output = asks ? InitQuestions.file(output, overwriting: force) : output
        if output != "-", !force, FileManager.default.fileExists(atPath: output) {
            throw Failure(.usage, "\(output) exists: write another file with --output, or overwrite it with --force")
        }
        let inputs = try await collect(&options)
        var proposal = try propose(inputs, options)
        if asks, let answered = InitQuestions.ask(proposal.questions, options) {
            proposal = try propose(inputs, answered)
        }
        try write(proposal, to: output)
    }

    private func validateOptions() throws {
        guard !targets.isEmpty || openapi != nil else {
            throw Failure(.usage, "name the URL of a list, such as https://api.example.org/issues, or --openapi FILE")
        }
        guard (1...1000).contains(sample) else { throw Failure(.usage, "--sample \(sample): expected 1 to 1000 pages") }
        if live, openapi == nil { throw Failure(.usage, "--live requires --openapi") }
        if let base { try BaseOption.check(base) }
        let origins = Set(targets.compactMap { try? HTTPURL($0).origin }).sorted()
        guard origins.count < 2 || base != nil else {
            throw Failure(
                .usage,
                "the URLs are of several servers (\(origins.joined(separator: ", "))): propose a file for each, and "
                    + "combine the files under apis; if they are one API, name its URL with --base")
        }
        if let authEnv {
            guard SampleRequest.isVariable(authEnv) else {
                throw Failure(.usage, "--auth-env \(authEnv): not a name of an environment variable")
            }
            guard ProcessInfo.processInfo.environment[authEnv] != nil else {
                throw Failure(.credentials, "--auth-env \(authEnv): the environment variable is not set")
            }
        }
    }

    /// Parses the values of `--header`.
    private func fields() throws -> [(name: String, value: String)] {
        try header.map { text in
            guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
                throw Failure(.usage, "--header '\(text)': expected 'Name: value'")
            }
            return (
                String(text[..<colon]), text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            )
        }
    }

    // MARK: Samples

    private struct Inputs {
        var samples: [Sample] = []
        var specification: OpenAPIDocument?
    }

    private func collect(_ options: inout ProposalOptions) async throws -> Inputs {
        let token = authEnv.flatMap { ProcessInfo.processInfo.environment[$0] }
        var inputs = Inputs()
        let isQuiet = quiet, servers = targets + (base.map { [$0] } ?? [])
        let sampler = Sampler(
            CurlTransport(), options: SampleRequest.options(pages: sample, headers: options.headers, token: token)
        ) { url, count in
            if !isQuiet { Output.note("looked at \(Redaction.url(url)): \(countText(count, "record"))") }
        }
        do throws(SampleError) {
            if let openapi { inputs.specification = try await sampler.specification(openapi, servers: servers) }
            for target in targets {
                let found = try await sampler.samples(target: target) { if !isQuiet { Output.note($0) } }
                // An index may have a list that is named as well.
                let known = Set(inputs.samples.map(\.origin))
                inputs.samples += found.filter { !known.contains($0.origin) }
            }
        } catch {
            throw Failure(error)
        }
        if live, let specification = inputs.specification {
            // The lists of the server that answered: the specification may name another one.
            let fetched = inputs.samples.map(\.origin)
            for list in specification.lists(base: base, fetched: fetched) {
                do throws(SampleError) { inputs.samples.append(try await sampler.sample(list)) } catch {
                    Output.note("not looked at: \(error)")
                }
            }
        }
        options.siblings = await sampler.siblings(
            Proposal.siblings(inputs.samples, specification: inputs.specification, options: options))
        return inputs
    }

    private func propose(_ inputs: Inputs, _ options: ProposalOptions) throws -> Proposal {
        do throws(ProposalError) {
            return try Proposal(inputs.samples, specification: inputs.specification, options: options)
        } catch {
            throw Failure(.failed, "\(error)")
        }
    }

    // MARK: Output

    private func write(_ proposal: Proposal, to output: String) throws {
        guard output != "-" else {
            Output.data(proposal.text)
            noteUncertain(proposal)
            return
        }
        do {
            let text = Data(proposal.text.utf8)
            try force ? OutputFile.replace(output, text) : OutputFile.create(output, text)
        } catch {
            throw Failure(.failed, "cannot write \(output): \(Failure.reason(error))")
        }
        guard !quiet else { return }
        let lines = proposal.text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
        Output.note(
            "wrote \(output): \(lines) lines, \(countText(proposal.entities.count, "entity", plural: "entities")), \(countText(proposal.endpoints.count, "endpoint"))"
        )
        let counts = proposal.records.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        if !counts.isEmpty { Output.note("the samples import as: \(counts.joined(separator: ", "))") }
        for finding in proposal.findings.prefix(10) { Output.note("not clean: \(finding)") }
        noteUncertain(proposal)
        let environment = ProcessInfo.processInfo.environment
        let missing = proposal.variables.filter { environment[$0]?.isEmpty ?? true }
        if !missing.isEmpty {
            Output.note("the file has no secrets: put the credentials into \(missing.joined(separator: " and "))")
        }
        Output.note("next: read it, then `tarn sync\(output == "tarn.yaml" ? "" : " --file \(output)")`")
    }
}

extension InitCommand {
    /// Prints the lists that the file does not reach as a whole.
    private func noteUncertain(_ proposal: Proposal) {
        guard !quiet else { return }
        let shown = 10
        for text in proposal.uncertain.prefix(shown) { Output.note("UNCERTAIN: \(text)") }
        if proposal.uncertain.count > shown {
            Output.note("\(proposal.uncertain.count - shown) more are UNCERTAIN: see the comments of the file")
        }
    }
}

extension Failure {
    /// Maps a failure to look at a response.
    fileprivate init(_ error: SampleError) {
        switch error {
        case .transport(let error): self.init(Code(error), error.description)
        case .status(401, _, _), .status(403, _, _): self.init(.credentials, error.description)
        case .limited: self.init(.limited, error.description)
        case .unreadable: self.init(.usage, error.description)
        default: self.init(.failed, error.description)
        }
    }
}

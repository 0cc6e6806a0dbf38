// `--base`: URLs that replace the base URLs of the description.

import ArgumentParser
import Tarn

struct BaseOption: ParsableArguments {
    @Option(
        name: .customLong("base"), parsing: .singleValue,
        help: ArgumentHelp(
            "Base URL for requests (default: from the description). Of several APIs: NAME=URL; may be repeated.",
            valueName: "url"))
    var texts: [String] = []

    /// - Throws: `Failure` with `.usage` if the text is not a URL. It may contain a password, which
    ///   is not repeated.
    static func check(_ text: String) throws {
        do throws(HTTPURLError) { _ = try HTTPURL(text) } catch {
            let shown = text.contains("@") ? "with user or password" : Redaction.shown(text)
            throw Failure(.usage, "--base \(shown): \(error.reason)")
        }
    }

    /// Returns the replacements for a description.
    func replacements(_ description: Description?) throws -> BaseReplacements {
        do throws(BaseReplacements.Problem) { return try BaseReplacements(texts, of: description) } catch {
            throw Failure(.usage, "--base \(error)")
        }
    }
}

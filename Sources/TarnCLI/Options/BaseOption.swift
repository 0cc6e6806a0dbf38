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

    /// Returns the replacements for a description.
    func replacements(_ description: Description?) throws -> BaseReplacements {
        do throws(BaseReplacements.Problem) { return try BaseReplacements(texts, of: description) } catch {
            throw Failure(.usage, "--base \(error)")
        }
    }
}

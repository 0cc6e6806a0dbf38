// ArgumentParser's messages about wrong arguments, which quote the arguments unescaped.

import Foundation

enum UsageMessage {
    /// Returns the message with the line breaks of quoted arguments escaped and long arguments cut.
    ///
    /// Only the message's own line breaks remain.
    static func text(_ message: String, arguments: some Sequence<String>) -> String {
        var message = message
        for argument in arguments.sorted(by: { $0.utf8.count > $1.utf8.count }) {
            // The value of `--name=value` is quoted without its name.
            let value =
                argument.hasPrefix("-")
                ? argument.firstIndex(of: "=").map { String(argument[argument.index(after: $0)...]) } : nil
            for quoted in [argument, value].compactMap(\.self) where !quoted.isEmpty {
                let line = VisibleText.line(quoted, limit: 256)
                guard line != quoted else { continue }
                message = message.replacingOccurrences(of: "'\(quoted)'", with: "'\(line)'", options: .literal)
                // A partial quotation is recognised by the text from its first to its last line
                // break.
                guard let core = core(quoted) else { continue }
                message = message.replacingOccurrences(
                    of: core, with: VisibleText.line(core, limit: 256), options: .literal)
            }
        }
        return message
    }

    /// Returns a text from before its first line break to behind its last one.
    private static func core(_ text: String) -> String? {
        let scalars = Array(text.unicodeScalars)
        guard let first = scalars.firstIndex(of: "\n"), let last = scalars.lastIndex(of: "\n"), first > 0,
            last < scalars.count - 1
        else { return nil }
        var core = String.UnicodeScalarView()
        core.append(contentsOf: scalars[(first - 1)...(last + 1)])
        return String(core)
    }
}

// ArgumentParser's messages about wrong arguments: they quote the arguments as they are, in a message of several lines.

import Foundation

enum UsageMessage {
    /// The message with the line breaks of quoted arguments escaped, and with long arguments cut: only the message's own
    /// line breaks are left.
    static func text(_ message: String, arguments: some Sequence<String>) -> String {
        var message = message
        for argument in arguments.sorted(by: { $0.utf8.count > $1.utf8.count }) {
            // The value of `--name=value` is quoted alone.
            let value = argument.hasPrefix("-") ? argument.firstIndex(of: "=").map { String(argument[argument.index(after: $0)...]) } : nil
            for quoted in [argument, value].compactMap(\.self) where !quoted.isEmpty {
                let line = VisibleText.line(quoted, limit: 256)
                guard line != quoted else { continue }
                message = message.replacingOccurrences(of: "'\(quoted)'", with: "'\(line)'", options: .literal)
                // Where it is quoted in part, what is before its first line break and behind its last one tells it.
                guard let core = core(quoted) else { continue }
                message = message.replacingOccurrences(of: core, with: VisibleText.line(core, limit: 256), options: .literal)
            }
        }
        return message
    }

    /// The line breaks of a text with what is between them, and a character before and behind.
    private static func core(_ text: String) -> String? {
        let scalars = Array(text.unicodeScalars)
        guard let first = scalars.firstIndex(of: "\n"), let last = scalars.lastIndex(of: "\n"), first > 0, last < scalars.count - 1 else { return nil }
        var core = String.UnicodeScalarView()
        core.append(contentsOf: scalars[(first - 1)...(last + 1)])
        return String(core)
    }
}

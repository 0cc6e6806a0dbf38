// Texts of servers in lines of logs and messages.

extension String {
    /// The text on one line: control characters and separators of lines as `\u{…}`.
    ///
    /// A value of a server could otherwise add lines to a log, or act on the terminal that shows
    /// it.
    package var singleLine: String {
        func breaks(_ scalar: Unicode.Scalar) -> Bool {
            switch scalar.value {
            case 0..<0x20, 0x7F...0x9F, 0x2028, 0x2029: true
            default: false
            }
        }
        guard unicodeScalars.contains(where: breaks) else { return self }
        var line = ""
        for scalar in unicodeScalars {
            if breaks(scalar) {
                line += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                line.unicodeScalars.append(scalar)
            }
        }
        return line
    }
}

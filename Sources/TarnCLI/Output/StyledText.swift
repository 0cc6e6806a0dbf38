/// A line for a terminal: parts with a style each. Only styles of the program reach the terminal.
struct StyledText {
    /// The look of a part, as parameters of SGR (ECMA-48).
    enum Style: String {
        case plain = "", bold = "1", faint = "2", red = "31", green = "32", yellow = "33"
    }

    private(set) var parts: [(text: String, style: Style)] = []

    init(_ text: String = "", _ style: Style = .plain) {
        if !text.isEmpty { add(text, style) }
    }

    mutating func add(_ text: String, _ style: Style = .plain) { parts.append((text, style)) }

    /// The text without its styles.
    var plain: String { parts.map(\.text).joined() }

    /// The line as bytes for a terminal: escaped, and cut to a number of columns.
    func rendered(columns: Int, isColoured: Bool) -> String {
        var result = "", left = columns
        for (text, style) in parts where left > 0 {
            let shown = VisibleText.cut(VisibleText.line(text), columns: left)
            left -= VisibleText.columns(of: shown)
            result += isColoured && style != .plain ? "\u{1B}[\(style.rawValue)m\(shown)\u{1B}[0m" : shown
        }
        return result
    }
}

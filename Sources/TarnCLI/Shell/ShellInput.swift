/// The lines of a shell: typed on a terminal, or from a pipe.
enum ShellInput {
    case terminal(LineEditor)
    /// A terminal without cursor movements, whose own line discipline edits the line.
    case plainTerminal
    case pipe

    /// Whether a person types the lines.
    var isInteractive: Bool { if case .pipe = self { false } else { true } }

    /// Reads a line; nil at the end.
    func next(prompt: String) -> String? {
        switch self {
        case .terminal(let editor): return editor.read(prompt: prompt)
        case .plainTerminal:
            Output.prompt(prompt)
            return readLine()
        case .pipe: return readLine()
        }
    }
}

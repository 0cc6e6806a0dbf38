/// The lines of a shell: typed on a terminal, or from a pipe.
enum ShellInput {
    case terminal(LineEditor)
    case pipe

    /// Whether a person types the lines.
    var isInteractive: Bool { if case .terminal = self { true } else { false } }

    /// Reads a line; nil at the end.
    func next(prompt: String) -> String? {
        switch self {
        case .terminal(let editor): editor.read(prompt: prompt)
        case .pipe: readLine()
        }
    }
}

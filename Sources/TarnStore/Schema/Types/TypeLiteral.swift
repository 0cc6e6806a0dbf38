/// The literals of a type in the text of a condition: `date("2026-01-02")`, `double(1.5)`.
struct TypeLiteral {
    /// The expected argument, for the error about another number or kind of arguments.
    let argument: String
    /// The expected text, for the error about an argument that is no value of the type.
    let form: String
    /// Reads an argument: the value that it would be by itself, and its text.
    let value: (Value, String) -> Value?

    init(_ argument: String, form: String? = nil, value: @escaping (Value, String) -> Value?) {
        self.argument = argument
        self.form = form ?? argument
        self.value = value
    }

    /// Creates the literals of a type whose values are determined by the text alone.
    init(_ argument: String, form: String? = nil, text: @escaping (String) -> Value?) {
        self.init(argument, form: form) { _, argument in text(argument) }
    }
}

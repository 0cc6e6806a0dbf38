/// Code of the program with a name. Two are equal if their names are: closures cannot be compared.
struct NamedCode<Code: Sendable>: Sendable, Hashable {
    let name: String
    let code: Code

    init(_ name: String, _ code: Code) {
        self.name = name
        self.code = code
    }

    static func == (a: NamedCode, b: NamedCode) -> Bool { a.name == b.name }

    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// The values of a pagination style's keys in a description.
public struct PaginationValues: Sendable {
    /// The value of a key, of the kind that the key declares.
    package enum Value: Sendable, Hashable {
        case text(String)
        case number(Int)
        case flag(Bool)
        case parameter(Pagination.ParameterPlace)
        case pageSize(Pagination.PageSize)
    }

    /// The values by the names of their keys; that of ``PaginationKey/parameter(example:)`` by
    /// `param`.
    package var values: [String: Value]

    package init(_ values: [String: Value] = [:]) { self.values = values }

    /// Returns the value of a text, a path or a word; nil if the key is absent.
    public func text(_ key: String) -> String? {
        if case .text(let text)? = values[key] { text } else { nil }
    }

    /// Returns the value of a required text or path.
    ///
    /// - Throws: `PaginationProblem` if the key is absent.
    public func required(_ key: String) throws(PaginationProblem) -> String {
        guard let text = text(key) else { throw PaginationProblem(key, "missing") }
        return text
    }

    /// Returns the value of a number; nil if the key is absent.
    public func number(_ key: String) -> Int? {
        if case .number(let number)? = values[key] { number } else { nil }
    }

    /// Returns the value of a flag; false if the key is absent.
    public func flag(_ key: String) -> Bool { values[key] == .flag(true) }

    /// Returns the value of `param` or `body`, for a syntax with
    /// ``PaginationKey/parameter(example:)``.
    ///
    /// - Throws: `PaginationProblem` if both are absent.
    public func parameter() throws(PaginationProblem) -> Pagination.ParameterPlace {
        guard case .parameter(let place)? = values["param"] else { throw PaginationProblem("param", "missing") }
        return place
    }

    /// Returns the value of a page size; nil if the key is absent.
    public func pageSize(_ key: String) -> Pagination.PageSize? {
        if case .pageSize(let size)? = values[key] { size } else { nil }
    }
}

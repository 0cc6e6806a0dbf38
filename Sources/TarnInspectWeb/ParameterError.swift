/// A parameter of a request that is no position, as the answers name them.
struct ParameterError: Error, CustomStringConvertible {
    /// The name of the parameter.
    let name: String

    var description: String { "the parameter \(name) is not a position that a page before it names" }
}

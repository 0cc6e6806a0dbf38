/// The options of a proposal.
package struct ProposalOptions: Sendable {
    /// The base URL of the API, for files; nil for the one of the samples.
    package var base: String?
    /// The environment variable with a bearer token; nil for none.
    package var tokenVariable: String?
    /// Header fields of every request: names and values. Credentials among them are not written.
    package var headers: [(name: String, value: String)] = []
    /// The names of entities that a person has chosen, by the proposed names.
    package var entityNames: [String: String] = [:]
    /// The keys of listed records that a person has chosen, by the proposed names of the entities.
    package var keys: [String: [String]] = [:]

    /// The lists of several parents, by the paths of their sources.
    package var siblings = SiblingAnswers()

    /// Creates the default options.
    package init() {}
}

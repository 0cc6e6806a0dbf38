// A proposed description as values, before it is written.

/// The parts of a proposed description file.
struct ProposedDescription {
    /// A header field of every request.
    struct Header {
        var name: String
        var value: String
    }

    /// The comment at the beginning of the file.
    var comments: [String] = []
    var base = ""
    var baseComment = ""
    var aliases: [String] = []
    var headers: [Header] = []
    /// The value of `auth` as a description writes it.
    var authentication: String?
    var authenticationComment = ""
    var entities: [ProposedEntity] = []
    var endpoints: [ProposedEndpoint] = []

    /// The position of an entity by its name.
    func position(of entity: String) -> Int? { entities.firstIndex { $0.name == entity } }
}

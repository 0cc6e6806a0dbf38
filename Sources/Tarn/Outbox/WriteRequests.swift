// The requests that send the local changes of an entity's records.

/// The requests that send the local changes of an entity's records.
///
/// An entity without requests of its own has those of its nearest ancestor.
public struct WriteRequests: Sendable, Hashable {
    /// The request that creates a record; nil if the API creates none.
    public var create: WriteRequest?
    /// The request that changes a record.
    public var update: WriteRequest?
    /// The request that deletes a record.
    public var delete: WriteRequest?
    /// The requests for the changes of single fields, by the field's name: other requests do not
    /// change these fields.
    package var fields: [String: FieldRequests] = [:]
    /// The requests for members of to-many relationships, by the relationship's name.
    public var relationships: [String: MemberRequests] = [:]
    /// The URL template that reads a record after a conflict; nil for that of ``update``.
    public var read: String?
    /// The base URL of all requests; nil for that of the API.
    ///
    /// Requests to another server carry neither credentials nor the header fields of the API.
    public var base: String?
    /// The name of the header field with the idempotency key; nil to send none.
    public var idempotency: String? = WriteRequests.idempotencyField
    /// The conflict rule; nil for that of the outbox.
    public var conflicts: ConflictRule?

    /// The default of ``idempotency``.
    public static let idempotencyField = "Idempotency-Key"

    /// The requests that add members to a relationship and remove them.
    public struct MemberRequests: Sendable, Hashable {
        /// The request for each member that is added.
        public var add: WriteRequest?
        /// The request for each member that is removed.
        public var remove: WriteRequest?
        /// The base URL of both; nil for that of the entity.
        public var base: String?

        /// Creates requests.
        public init(add: WriteRequest? = nil, remove: WriteRequest? = nil, base: String? = nil) {
            self.add = add
            self.remove = remove
            self.base = base
        }
    }

    /// Creates the requests of an entity.
    public init(create: WriteRequest? = nil, update: WriteRequest? = nil, delete: WriteRequest? = nil) {
        self.create = create
        self.update = update
        self.delete = delete
    }

    /// The URLs of all requests, without their bases.
    var urls: [String] {
        ([create, update, delete] + relationships.values.flatMap { [$0.add, $0.remove] }).compactMap { $0?.url }
            + fields.values.flatMap(\.all).map(\.url)
    }

    /// The request of an operation, and its base URL; nil if it is not declared.
    func request(for kind: OutboxOperation.Kind, relationship: String?) -> (request: WriteRequest, base: String?)? {
        let members = relationship.flatMap { relationships[$0] }
        let request =
            switch kind {
            case .create: create
            case .update: update
            case .delete: delete
            case .add: members?.add
            case .remove: members?.remove
            }
        return request.map { ($0, (relationship == nil ? nil : members?.base) ?? base) }
    }
}

extension Description {
    /// The requests of an entity, or of its nearest ancestor with requests.
    package func writes(of entity: Catalog.Entity, in catalog: Catalog) -> WriteRequests? {
        if let own = writes[entity.name] { return own }
        return catalog.ancestors(of: entity.id).lazy
            .compactMap { catalog.entity(id: $0).flatMap { writes[$0.name] } }.first
    }
}

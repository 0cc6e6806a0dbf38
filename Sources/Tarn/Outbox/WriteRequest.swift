// The request that sends one kind of local change, as a description declares it.

public import TarnImport

/// The request that sends one kind of local change: its method, its URL and its body.
///
/// `{number}` in the URL is replaced by an attribute of the record, `{repository.fullName}` by an
/// attribute of the record that a to-one relationship refers to, and `{member.name}` by one of the
/// member that is added or removed. All of RFC 6570 is allowed.
public struct WriteRequest: Sendable, Hashable {
    /// The HTTP method.
    public var method: String
    /// The URL template, appended to the base URL. It begins with `/`, or is absolute.
    public var url: String
    /// The content of the body; nil for the default of the method and of the operation.
    ///
    /// The default of a create is `all`, of an update `changed`, or `all` with `PUT`. Other
    /// operations have no body, unless values are forced.
    public var body: Body?
    /// The format of the body. Default: `json`.
    public var format = Format.json
    /// The only fields that are sent; nil for all that have a place in a body.
    public var fields: Set<String>?
    /// The key path of the object in the body that has the fields: `ticket` for
    /// `{"ticket": {"subject": …}}`, or `records[0]` for a list with one element. Default: the body
    /// itself.
    public var envelope = JSONPath(keys: [])
    /// The query parameter of an update with the names of the fields that it changes, separated by
    /// commas: their places in the ``envelope``. Nil to send none.
    package var mask: String?
    /// Values that are sent whatever the record is, by their key paths in the body.
    ///
    /// A text that is `{variable}` as a whole is replaced by the variable's value, and
    /// `{@idempotency_key}` by the idempotency key of the request.
    public var values: [ForcedValue] = []
    /// The key paths of fields in the ``envelope``, where they differ from those in responses:
    /// keys, and behind them `[0]`, a list with one element, or `*`, an element for each value.
    public var places: [String: JSONPath] = [:]
    /// The form of references. Default: `key`.
    public var references = ReferenceForm.key
    /// The forms of single relationships.
    public var referenceForms: [String: ReferenceForm] = [:]
    /// Templates of single references, by the names of relationships, in place of a form:
    /// `{"type": "users", "id": "{id}"}`. Variables are attributes of the other record.
    public var referenceTemplates: [String: JSONValue] = [:]
    /// The key path of the record in the answer. Default: the root.
    public var records = JSONPath(keys: [])
    /// The header fields of the request, in addition to those of the API.
    ///
    /// A value that is `{variable}` as a whole is replaced by the variable's value.
    public var headers: [TransportHeaders.Field] = []
    /// The field whose change this request sends by itself; nil for all other requests.
    package var field: String?
    /// The location of the declaration, for error texts: `forge.yaml:41`.
    package var place = ""

    /// The fields of a record that a body contains.
    public enum Body: String, Sendable, Hashable, CaseIterable {
        /// The fields that the operation changes.
        case changed
        /// Everything that can be sent.
        case all
        /// Nothing.
        case none
    }

    /// The format of a body.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// A JSON object.
        case json
        /// A JSON merge patch (RFC 7396), sent as `application/merge-patch+json`.
        case mergePatch = "merge_patch"
        /// A JSON patch (RFC 6902), sent as `application/json-patch+json`: each field is set by an
        /// operation `add`, which replaces the value that is there (§4.1).
        case jsonPatch = "json_patch"
        /// A form (`application/x-www-form-urlencoded`): inner values are named
        /// `address[city]`, `tags[]` and `lines[0][text]`.
        case form
    }

    /// A value that is sent whatever the record is.
    public struct ForcedValue: Sendable, Hashable {
        /// The key path in the body.
        public var place: JSONPath
        /// The value.
        public var value: JSONValue

        /// Creates a forced value.
        public init(_ place: JSONPath, _ value: JSONValue) {
            self.place = place
            self.value = value
        }
    }

    /// Creates a request; its other properties have their defaults.
    public init(_ method: String, _ url: String) {
        self.method = method
        self.url = url
    }

    /// The media type among the request's own header fields; nil without one.
    var contentType: String? { TransportHeaders(headers)["Content-Type"] }

    /// Whether a field has a place in a list, which a server replaces as a whole.
    var hasPlacesInLists: Bool { !places.values.allSatisfy(\.isPlain) }

    /// The content of the body for an operation.
    func content(for kind: OutboxOperation.Kind) -> Body {
        if let body { return body }
        return switch kind {
        case .create: .all
        case .update: method == "PUT" ? .all : .changed
        case .delete, .add, .remove: .none
        }
    }
}

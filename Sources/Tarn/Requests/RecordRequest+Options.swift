// The options of a request: each returns the request with one of them.

public import Logging
public import TarnHTTP
public import TarnImport
import TarnStore

extension RecordRequest {
    /// Returns the request with a source of its answer.
    public func policy(_ policy: CachePolicy) -> RecordRequest { with { $0.options.policy = policy } }

    /// Returns the request with a stale answer permitted if the server fails.
    ///
    /// - Parameter seconds: for how long after its freshness has ended (RFC 5861 §4).
    public func staleIfError(seconds: Int) -> RecordRequest {
        with { $0.options.directives.append("stale-if-error=\(max(0, seconds))") }
    }

    /// Returns the request with limits of its list.
    ///
    /// - Parameters:
    ///   - pages: the maximum number of pages.
    ///   - records: the maximum number of records; the page with the last one is kept whole.
    public func limit(pages: Int? = nil, records: Int? = nil) -> RecordRequest {
        with { $0.endpoint.limits = Endpoint.Limits(pages: pages, records: records, stopsQuietly: true) }
    }

    /// Returns the request with a value of the response that answers have as metadata.
    ///
    /// - Parameters:
    ///   - name: the name of the value in the answer.
    ///   - path: the key path from the root of the response.
    public func metadata(_ name: String, at path: JSONPath) -> RecordRequest {
        with { $0.endpoint.metadata.append(Endpoint.Metadata(name, path)) }
    }

    /// Returns the request with rules for responses. The first one that matches applies.
    public func responses(_ rules: ResponseRule...) -> RecordRequest { with { $0.endpoint.responses += rules } }

    // MARK: The response

    /// Returns the request whose response has records of another type, too, such as an envelope.
    ///
    /// They are imported with the others in one change, and read from the store. A call returns the
    /// records of the request's own type.
    ///
    /// - Parameters:
    ///   - type: the type of the other records: of another entity, and no kind of the same one.
    ///   - path: their key path from the root of the response.
    ///   - isOptional: whether they may be absent or null.
    public func also<Other: MappedRecord>(
        _ type: Other.Type, at path: JSONPath, optional isOptional: Bool = false
    ) -> RecordRequest {
        with { request in
            if request.endpoint.envelope.isEmpty {
                request.endpoint.envelope = [EnvelopePart(request.endpoint.records, Value.entity)]
            }
            request.endpoint.envelope.append(EnvelopePart(path, Other.entity, optional: isOptional))
        }
    }

    /// Returns the request whose records are rows, or columns, and not objects.
    ///
    /// - Parameters:
    ///   - names: the path of the names of the columns, from the root of the response; of columns
    ///     `@memberName`.
    ///   - list: the path of the rows; by default that of the request's own records.
    public func columns(at names: JSONPath, of list: JSONPath? = nil) -> RecordRequest {
        with { $0.endpoint.columns.append(NamedColumns(list ?? $0.endpoint.records, names: names)) }
    }

    /// Returns the request whose records are rows without names, or with names on the first page
    /// only.
    ///
    /// - Parameters:
    ///   - names: the names of the columns, all of them in their order. A first row that repeats
    ///     them is no record.
    ///   - list: the path of the rows; by default that of the request's own records.
    public func columns(_ names: [String], of list: JSONPath? = nil) -> RecordRequest {
        with { $0.endpoint.columns.append(NamedColumns(list ?? $0.endpoint.records, written: names)) }
    }

    // MARK: The store

    /// Returns the request whose records are stored, or only returned.
    ///
    /// If they are not stored, the response leaves nothing in the store: no record, no entry, no
    /// confirmation. The returned records are those that the store would have had: values that the
    /// response lacks are those of stored records. The store still answers, as the policy permits.
    public func persisting(_ isPersisted: Bool) -> RecordRequest {
        with { $0.options.transfer.isPersisted = isPersisted }
    }

    // MARK: Hooks

    /// Returns the request with a closure that completes the keys of records, nested ones included.
    ///
    /// The closure receives the entity, the record's JSON, and that of the enclosing record, if
    /// any. It returns texts and numbers by the names of the key's attributes and relationships. It
    /// must be a pure function: it is called wherever the key is needed. Its values have precedence
    /// over those of the client's hooks.
    ///
    /// A hook runs when a response is imported. A stored answer has the effect of the hooks with
    /// which it was imported: the place of the call is a part of the answer's identity, so that
    /// requests with other hooks do not share answers. Values that a closure captures must follow
    /// from the request.
    public func injectingKeys(
        file: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
        _ keys: @escaping @Sendable (_ entity: String, _ json: JSONValue, _ parent: JSONValue?) -> [String: JSONValue]
    ) -> RecordRequest {
        with { $0.options.transfer.hooks.injectKeys(at: "\(file):\(line):\(column) keys", keys) }
    }

    /// Returns the request with a closure that edits each listed element before it is drafted.
    ///
    /// The closure runs after the hooks of the client, and before the identity of the record is
    /// determined. It may set values that the response lacks:
    ///
    /// ```swift
    /// .get("/repos/x/anvil/issues").editing { _, json in json["repository"] = .string("anvil") }
    /// ```
    ///
    /// See ``injectingKeys(file:line:column:_:)`` on answers of the store.
    public func editing(
        file: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
        _ edit: @escaping @Sendable (_ entity: String, _ json: inout JSONValue) -> Void
    ) -> RecordRequest {
        with { request in
            request.options.transfer.hooks.edit(at: "\(file):\(line):\(column) edit") { entity, json in
                edit(entity, &json)
                return true
            }
        }
    }

    /// Returns the request with a condition on its listed elements; the others are left out.
    ///
    /// The closure runs after the hooks of the client. See
    /// ``injectingKeys(file:line:column:_:)`` on answers of the store.
    public func filtering(
        file: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
        _ isIncluded: @escaping @Sendable (_ entity: String, _ json: JSONValue) -> Bool
    ) -> RecordRequest {
        with { $0.options.transfer.hooks.edit(at: "\(file):\(line):\(column) filter") { isIncluded($0, $1) } }
    }

    /// Returns the request with a closure that edits each draft before it is merged.
    ///
    /// It is called for nested records, too, after the hooks of the client. In an atomic batch it
    /// is called for the records of all requests. See ``injectingKeys(file:line:column:_:)`` on
    /// answers of the store.
    public func editingDrafts(
        file: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
        _ edit: @escaping @Sendable (_ draft: inout ImportedDraft) -> Void
    ) -> RecordRequest {
        with { $0.options.transfer.hooks.editDrafts(at: "\(file):\(line):\(column) draft", edit) }
    }

    // MARK: The call

    /// Returns the request with a priority among those that wait for the pace, for a limit, or for
    /// one of the connections to a server.
    ///
    /// A request of a higher priority is sent before those that wait already; equal ones are sent
    /// in their order. A transfer that another caller has begun keeps its priority.
    public func priority(_ priority: TaskPriority) -> RecordRequest { with { $0.options.transfer.priority = priority } }

    /// Returns the request in a domain: ``RecordClient/cancel(domain:)`` cancels its calls.
    public func domain(_ name: String) -> RecordRequest { with { $0.options.domain = name } }

    /// Returns the request with a limit on the time that a call takes.
    ///
    /// The limit covers waits and retries, and all pages of ``RecordClient/all(_:)``. In a sequence
    /// of pages each page has the whole time, since the loop's body belongs to the caller. At the
    /// deadline the transfer ends, and a stored response answers if the policy and
    /// ``staleIfError(seconds:)`` permit it; otherwise the call throws `CacheError` with a
    /// `TransportError` of the kind `timeout`.
    public func deadline(_ limit: Duration) -> RecordRequest { with { $0.options.timeLimit = limit } }

    /// Returns the request with a logger of its own.
    ///
    /// Every answer is logged at the level `info`, with the method, the URL without secrets, the
    /// status, the source and the reason of the cache's decision, and the counts of records; a
    /// failure at the level `notice`. Retries of this request are logged to it, too.
    public func logging(to logger: Logger) -> RecordRequest { with { $0.options.transfer.logger = logger } }
}

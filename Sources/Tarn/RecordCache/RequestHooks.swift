import TarnImport

/// The import hooks of one request: they are sendable, unlike ``ImportHooks``.
struct RequestHooks: Sendable {
    typealias Edit = @Sendable (_ entity: String, _ json: inout JSONValue) -> Bool
    typealias KeyInjection =
        @Sendable (_ entity: String, _ json: JSONValue, _ parent: JSONValue?) -> [String: JSONValue]

    private(set) var beforeDraft: Edit?
    private(set) var injectKey: KeyInjection?
    private(set) var afterDraft: (@Sendable (_ draft: inout ImportedDraft) -> Void)?
    /// The places of the hooks in the program: closures have no identity of their own.
    private(set) var places: [String] = []

    var isEmpty: Bool { places.isEmpty }

    /// Adds a hook that edits or leaves out an element; it runs after the earlier ones.
    mutating func edit(at place: String, _ edit: @escaping Edit) {
        places.append(place)
        guard let earlier = beforeDraft else { return beforeDraft = edit }
        beforeDraft = { entity, json in earlier(entity, &json) && edit(entity, &json) }
    }

    /// Adds a hook that completes keys; its values have precedence over those of earlier ones.
    mutating func injectKeys(at place: String, _ keys: @escaping KeyInjection) {
        places.append(place)
        guard let earlier = injectKey else { return injectKey = keys }
        injectKey = { earlier($0, $1, $2).merging(keys($0, $1, $2)) { $1 } }
    }

    /// Adds a hook that edits drafts; it runs after the earlier ones.
    mutating func editDrafts(at place: String, _ edit: @escaping @Sendable (inout ImportedDraft) -> Void) {
        places.append(place)
        guard let earlier = afterDraft else { return afterDraft = edit }
        afterDraft = { draft in
            earlier(&draft)
            edit(&draft)
        }
    }

    /// The hooks of a cache, followed by these.
    ///
    /// These see what the others have edited, and their keys have precedence.
    func following(_ hooks: ImportHooks) -> ImportHooks {
        guard !isEmpty else { return hooks }
        var all = hooks
        if let own = beforeDraft {
            all.beforeDraft = hooks.beforeDraft.map { other in { other($0, &$1) && own($0, &$1) } } ?? own
        }
        if let own = injectKey {
            all.injectKey =
                hooks.injectKey.map { other in { other($0, $1, $2).merging(own($0, $1, $2)) { $1 } } } ?? own
        }
        if let own = afterDraft {
            all.afterDraft = { draft in
                guard hooks.afterDraft?(&draft) ?? true else { return false }
                own(&draft)
                return true
            }
        }
        return all
    }
}

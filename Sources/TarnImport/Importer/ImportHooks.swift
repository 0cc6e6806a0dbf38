// Hooks into an import: the JSON before it is drafted, drafts before they are merged, the report
// before the commit. An import without hooks has no overhead.

public import TarnStore

/// Closures that an importer calls, on the importing thread.
public struct ImportHooks {
    /// The hook that edits or leaves out a listed element before it is drafted.
    ///
    /// The closure receives the entity and the element's JSON. It may change the JSON, including
    /// keys: it runs before the identity is determined. If it returns false, the element is left
    /// out. The JSON must be valid and within the parser's depth; otherwise the element is skipped
    /// with the diagnostic `hook.invalid`.
    public var beforeDraft: ((_ entity: String, _ json: inout JSONValue) -> Bool)?
    /// The hook that completes the key of a record whose JSON lacks parts of it, nested or not.
    ///
    /// The closure receives the entity, the record's JSON, and that of the enclosing record, if
    /// any. It returns texts and numbers by the names of the key's attributes and relationships. It
    /// runs before the identity is determined and must be a pure function: it is called wherever
    /// the key is needed.
    public var injectKey: KeyInjection?
    /// A function of the entity, the record's JSON and that of the enclosing record.
    public typealias KeyInjection = (_ entity: String, _ json: JSONValue, _ parent: JSONValue?) -> [String: JSONValue]
    /// The hook that edits or leaves out a draft before it is merged, nested records included.
    ///
    /// If the closure returns false, the record is left out: it counts as skipped, and the stored
    /// record is kept.
    public var afterDraft: ((_ draft: inout ImportedDraft) -> Bool)?
    /// The hook that runs after the merge, in the same transaction. An error fails the unit.
    public var afterMerge: ((_ report: ImportReport, _ writer: inout StoreWriter) throws -> Void)?

    package var isEmpty: Bool { beforeDraft == nil && injectKey == nil && afterDraft == nil && afterMerge == nil }

    /// Creates hooks. Nil hooks are not called.
    public init(
        beforeDraft: ((_ entity: String, _ json: inout JSONValue) -> Bool)? = nil, injectKey: KeyInjection? = nil,
        afterDraft: ((_ draft: inout ImportedDraft) -> Bool)? = nil,
        afterMerge: ((_ report: ImportReport, _ writer: inout StoreWriter) throws -> Void)? = nil
    ) {
        self.beforeDraft = beforeDraft
        self.injectKey = injectKey
        self.afterDraft = afterDraft
        self.afterMerge = afterMerge
    }
}

extension ImportHooks {
    /// Writes the body of a draft with the edits of `afterDraft` into `writer`.
    ///
    /// - Returns: whether the record is kept, and whether the new body is wide (nil if unchanged).
    func edit(
        _ plan: EntityPlan, _ key: Bytes, _ body: RowBody, isComplete: Bool, into writer: inout ByteWriter,
        refused: (_ field: String, _ json: JSONValue) -> Void
    ) -> (isKept: Bool, isWide: Bool?) {
        guard let afterDraft else { return (true, nil) }
        var draft = ImportedDraft(plan, key, body, isComplete: isComplete)
        guard afterDraft(&draft) else { return (false, nil) }
        guard !draft.edits.isEmpty else { return (true, nil) }
        // Without memory for a parser, every edit is refused, like invalid JSON.
        let parser = try? JSONParser()
        var values: [UInt16: [UInt8]] = [:]
        for (field, json) in draft.edits {
            guard let position = plan.details.firstIndex(where: { $0.name == field }), !plan.slots[position].isKey,
                case .attribute = plan.slots[position].kind
            else {
                preconditionFailure(
                    "a hook can only set attributes outside of the key: \(plan.entity.name) has no such attribute \(field)"
                )
            }
            var value = ByteWriter()
            if json == .null {
                value.appendValueNull()
            } else {
                let tape = parser.flatMap { ImportHooks.parsed(json, $0) }
                guard tape?.appendValue(Tape.root, by: plan.details[position].rule, to: &value) ?? false else {
                    refused(field, json)
                    continue
                }
            }
            values[plan.slots[position].field] = Array(value.bytes)
        }
        var edits = BodyBuilder(), edited = ByteWriter()
        for (id, value) in values.sorted(by: { $0.key < $1.key }) { edits.field(id) { $0.append(value) } }
        let editsAreWide = edits.isWide
        edits.finish(into: &edited)
        guard let new = RowBody(edited.bytes, isWide: editsAreWide) else { return (true, nil) }
        var merged = BodyBuilder()
        merged.merge(old: body, new: new)
        let isWide = merged.isWide
        writer.removeAll()
        merged.finish(into: &writer)
        return (true, isWide)
    }

    /// Parses the JSON of a hook; nil if it is invalid or too deep.
    static func parsed(_ json: JSONValue, _ parser: JSONParser) -> Tape? { try? parser.parse(text: json.text) }
}

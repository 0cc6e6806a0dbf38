// Where code looks into an import: at the JSON before it is drafted, at drafts before they are merged, and at the report before
// the commit. An import without hooks pays nothing for them.

public import TarnStore

/// Closures that an importer calls, on the thread that imports.
public struct ImportHooks {
    /// Called for each element that a response lists, before anything is made of it, with the entity and its JSON, which may be
    /// changed; keys too, since it is before identity. False leaves the element out.
    ///
    /// What it leaves must be JSON, no deeper than the parser reads: otherwise the element is skipped, with the diagnostic
    /// `hook.invalid`.
    public var beforeDraft: ((_ entity: String, _ json: inout JSONValue) -> Bool)?
    /// Called for each record, nested ones included, that does not say all of its key, before its identity is determined: with the entity,
    /// the record's JSON, and that of the record that it is nested in, if it is in one. What it returns, by the names of the key's
    /// attributes and relationships, completes the key: texts and numbers.
    ///
    /// It is a pure function: it is asked again wherever the key is needed.
    public var injectKey: KeyInjection?
    /// What ``injectKey`` is: a function of the entity, the record's JSON and that of the record around it.
    public typealias KeyInjection = (_ entity: String, _ json: JSONValue, _ parent: JSONValue?) -> [String: JSONValue]
    /// Called for each record of the unit before it is merged, nested ones included. False leaves the record out: it is counted as
    /// skipped, and what is stored of it stays.
    public var afterDraft: ((_ draft: inout ImportedDraft) -> Bool)?
    /// Called when everything is merged, in the same transaction, with what the import did. What it throws fails the unit.
    public var afterMerge: ((_ report: ImportReport, _ writer: inout StoreWriter) throws -> Void)?

    var isEmpty: Bool { beforeDraft == nil && injectKey == nil && afterDraft == nil && afterMerge == nil }

    /// None of them is called unless it is given.
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
    /// The body of a draft with what the hook changed of it, written into `writer`.
    ///
    /// - Returns: whether the record is kept, and whether the body is wide; nil if it is as it was.
    func edit(
        _ plan: EntityPlan, _ key: Bytes, _ body: RowBody, isComplete: Bool, into writer: inout ByteWriter,
        refused: (_ field: String, _ json: JSONValue) -> Void
    ) -> (isKept: Bool, isWide: Bool?) {
        guard let afterDraft else { return (true, nil) }
        var draft = ImportedDraft(plan, key, body, isComplete: isComplete)
        guard afterDraft(&draft) else { return (false, nil) }
        guard !draft.edits.isEmpty else { return (true, nil) }
        // Without memory for a parser every edit is refused, as what is no JSON is.
        let parser = try? JSONParser()
        var values: [UInt16: [UInt8]] = [:]
        for (field, json) in draft.edits {
            guard let position = plan.details.firstIndex(where: { $0.name == field }), !plan.slots[position].isKey,
                case .attribute = plan.slots[position].kind
            else { preconditionFailure("\(plan.entity.name) has no attribute \(field) beside its key that a hook could set") }
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

    /// Nil if a hook made what is no JSON, or is deeper than the parser reads.
    static func parsed(_ json: JSONValue, _ parser: JSONParser) -> Tape? { try? parser.parse(text: json.text) }
}

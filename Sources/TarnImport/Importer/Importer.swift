// The entry point of the import: turns documents into one atomic change of the store.

import Foundation
public import TarnStore

/// An import of responses into a store: drafts their records, then merges the drafts.
///
/// ``add(_:records:entity:parent:context:)`` drafts documents outside of the write
/// transaction. ``commit(into:)`` stores all drafts of a unit together. An importer is for one
/// thread at a time.
public final class Importer {
    let catalog: Catalog
    let plan: ImportPlan
    let parser: JSONParser
    var drafter: Drafter
    /// The number of elements in the lists of the unit's documents.
    var listed = 0
    /// The limits on the size of documents.
    public var limits = Limits()
    /// Whether a record with unique values of another record fails the unit.
    ///
    /// Otherwise, such a record is left as it was and reported.
    public var isStrict = false
    /// The closures that the importer calls.
    public var hooks = ImportHooks()
    /// The parts of the current unit besides its records.
    package var unit = ImportUnit()
    /// The digest by which bodies are recognised that come again; nil to draft all of them.
    package var bodyDigest: KeyedDigest?
    /// A digest of the schema and the mapping; nil if responses of caches with other mappings may
    /// confirm what this importer changes.
    package var mappingDigest: String?
    /// Whether the unit's additions and hooks get the responses of mirrors that list updated
    /// records: ``TarnStore/ResponseWriter/collected``.
    package var collectsMirrors = false
    /// The bodies of the unit that may have to be drafted at its commit.
    var kept = KeptBodies()
    /// The number of units whose bodies were drafted at their commit.
    var draftedAgain = 0
    /// The elements of the document that is being added; nil if it is not recognised.
    var wanted: WantedElements?, recognition: ElementRecognition?
    /// The records that the unit's responses may be older than: see ``ImportUnit/outboxRevision``.
    var overtaken: Set<ListedRecord> = []
    /// The number of times that a record of the unit has kept its values because of these.
    var overtakenCount = 0
    /// The records of the current merge of which something was left out: see
    /// ``ImportReport/leftOut``.
    var leftOut: Set<ListedRecord> = []
    /// The closures that remove secrets from texts about the unit, by what they remove.
    var concealers: [AnyHashable: (String) -> String] = [:]
    /// The cancellation of the waiting task, checked during the merge.
    var cancellation: Cancellation?
    /// The positions of one-to-one references in the unit, built on first use.
    var conflictPlaces: [ConflictPlace: Int]?
    /// The references that are undone if the records that have caused them are dropped.
    var connected: [ConnectedReference] = []
    /// The parser of the JSON that hooks edited.
    private var editedParser: JSONParser?
    /// The parser of excerpts that are made from bare keys.
    var excerptParser: JSONParser?
    /// Whether ``Added/readDigest`` includes the elements that a hook has refused or a rule has
    /// passed over, and the messages.
    package var digestsRefused = false
    /// The maximum number of diagnostics in a report (default: 100). All diagnostics are counted.
    public var diagnosticLimit: Int {
        get { drafter.diagnostics.limit }
        set { drafter.diagnostics.limit = max(0, newValue) }
    }

    /// The maximum number of keys that a report names for each outcome (default: 100); 0 for none.
    ///
    /// All records are counted. See ``ImportReport/keys(_:)``.
    public var keyLimit = ImportReport.keyLimit {
        didSet { keyLimit = max(0, keyLimit) }
    }

    /// Creates an importer.
    ///
    /// - Parameter catalog: that of the store to which units are committed.
    /// - Throws: an `ImportError` such as `.unknownEntity` or `.unknownField` if the mapping names
    ///   what the catalog does not have; `.outOfMemory`.
    public convenience init(_ mapping: Mapping, _ catalog: Catalog) throws(ImportError) {
        try self.init(ImportPlan(mapping, catalog), catalog)
    }

    /// Creates an importer with a plan that no other one uses.
    init(_ plan: ImportPlan, _ catalog: Catalog) throws(ImportError) {
        self.catalog = catalog
        self.plan = plan
        parser = try JSONParser()
        let values = try DocumentValues(hasSources: !plan.documentSources.isEmpty, takesNames: plan.takesNames)
        drafter = Drafter(plan, values)
    }

    /// The records that one document lists.
    public struct Added: Sendable {
        /// The listed records in document order, without skipped ones.
        public var listed: [ListedRecord]
        /// The number of elements of the list.
        public var count: Int
        /// The number of elements of the first of several lists; nil if there is one list.
        package var firstCount: Int?
        /// The number of skipped elements, whose records are unknown.
        ///
        /// They have no usable key, no entity by the choice rules, or invalid JSON from a hook.
        public var skipped: Int
        /// The elements that were read, but are not listed: the keys of those that are marked as
        /// deleted, and digests of those that a hook has refused.
        var unlisted: [ListedRecord] = []
        /// The digests of the elements that are messages about records.
        var messages: [UInt8] = []
        /// The requested values besides the records.
        package var facts = DocumentFacts()
        /// The body for the entry of the response; nil if it is not recognised when it comes again.
        package var imported: ImportedBody?
        /// Whether the document is equal to that of the stored entry, and was not read.
        package var isRepeated = false

        /// Creates a result.
        package init(listed: [ListedRecord], count: Int, skipped: Int = 0) {
            self.listed = listed
            self.count = count
            self.skipped = skipped
        }

        mutating func append(_ other: Added) {
            listed += other.listed
            count += other.count
            skipped += other.skipped
            unlisted += other.unlisted
            messages += other.messages
            facts.records += other.facts.records
            facts.increments += other.facts.increments
        }
    }

    /// Parses a document and drafts its records, with everything nested in them.
    ///
    /// If a key occurs twice in an object, the last value wins. For keys that identify a record,
    /// the first one wins.
    ///
    /// A body beyond ``Limits/documentSize`` is read twice, in parts: first to validate it, then to
    /// draft it. Its drafts are in memory until the commit all the same.
    /// ``addParts(records:entity:parent:context:next:part:)`` needs no more memory for a larger
    /// body.
    ///
    /// - Parameters:
    ///   - records: the path of the list. An object there is one record.
    ///   - parent: a record that the listed ones belong to.
    ///   - context: the data besides the body that the mapping may read.
    /// - Throws: `ImportError`. The unit then has nothing of this document, and keeps earlier ones.
    ///   After `.recordWithoutKey` and `.tooLarge(.drafts, …)`, however, the whole unit has failed:
    ///   ``commit(into:)`` throws the error again. `.unknownField` if the parent's relationship is
    ///   not a to-one that the listed records store.
    public func add(
        _ body: [UInt8], records: JSONPath = JSONPath(keys: []), entity: String, parent: ParentReference? = nil,
        context: ImportContext = ImportContext()
    ) throws(ImportError) -> Added {
        try add(
            body, records: records, entity: entity, parent: parent, context: context, asking: DocumentQuestions())
    }

    /// Parses a document, drafts its records, and reads further values.
    package func add(
        _ body: [UInt8], records: JSONPath = JSONPath(keys: []), entity: String, parent: ParentReference? = nil,
        context: ImportContext = ImportContext(), asking questions: DocumentQuestions
    ) throws(ImportError) -> Added {
        let target = try target(entity, parent)
        guard body.count <= limits.bodySize else { throw .tooLarge(.body, limit: limits.bodySize) }
        guard body.count <= limits.documentSize else {
            let added = try addDivided(body, records, target, context, questions)
            keep(body, .list(records, entity: entity, parent: parent), context)
            return added
        }
        let tape = try parse(body, records, questions)
        let places = try locate(records, in: tape, target)
        drafter.begin(context, tape)
        drafter.limitDrafts(to: limits.drafts(ofDocument: body.count))
        var added = draft(tape, places, target, at: records)
        if let failure = drafter.failure { throw failure }
        keep(body, .list(records, entity: entity, parent: parent), context)
        if !questions.isEmpty { added.facts = facts(questions, tape, [places], lists: [records]) }
        return added
    }

    /// The plan of a document's listed records, and their parent.
    struct Target {
        var plan: Int
        var parent: Parent?

        /// The record that the listed ones belong to, and the field that refers to it.
        struct Parent {
            var field: UInt16
            var plan: Int
            var key: [UInt8]
            var tuple: [UInt8]
        }
    }

    func target(_ entity: String, _ parent: ParentReference?) throws(ImportError) -> Target {
        guard let position = plan.position(of: entity) else { throw .unknownEntity(entity) }
        if hooks.beforeDraft != nil, editedParser == nil { editedParser = try JSONParser() }
        drafter.documentValues.keyInjection = hooks.injectKey
        drafter.injectsKeys = hooks.injectKey != nil
        guard let parent else { return Target(plan: position) }
        guard let field = plan.plans[position].entity.field(parent.relationship),
            case .reference(let reference) = field.kind, !reference.isToMany
        else {
            throw .unknownField(entity: entity, field: parent.relationship)
        }
        let itsPlan = plan.plans.firstIndex { $0.entity.id == reference.destination } ?? -1
        return Target(
            plan: position,
            parent: Target.Parent(field: field.id, plan: itsPlan, key: parent.storageKey, tuple: parent.tuple))
    }

    /// Drafts the records of several lists as if they were one list.
    ///
    /// - Parameters:
    ///   - path: the path of the lists.
    ///   - rule: the rule by which an element is a message about a record.
    func draft(
        _ tape: Tape, _ places: [Int], _ target: Target, at path: JSONPath, by rule: ElementRule = ElementRule()
    ) -> Added {
        var added = Added(listed: [], count: 0)
        let paths = paths(of: places, at: path, tape), rows = rows(at: path, tape, target)
        for place in places {
            added.append(
                draft(
                    tape, place, target, from: added.count, path: paths[place], isRow: rows.contains(place), by: rule))
        }
        return added
    }

    /// Returns the paths of lists or records, as far as they are not found quickly one by one, or
    /// names in them are needed.
    func paths(of places: [Int], at path: JSONPath, _ tape: Tape) -> [Int: Tape.Found] {
        places.count > 1 || (plan.takesNames && path.hasWildcard) ? tape.paths(at: path) : [:]
    }

    /// Drafts the records of a list, or a single record.
    ///
    /// - Parameters:
    ///   - start: the number of records that the document listed before.
    ///   - path: the path of the list or the record, if it is known.
    ///   - isRow: whether a list is a record itself.
    ///   - rule: the rule by which an element is a message about a record.
    func draft(
        _ tape: Tape, _ place: Int, _ target: Target, from start: Int, path: Tape.Found? = nil, isRow: Bool = false,
        by rule: ElementRule = ElementRule()
    ) -> Added {
        var added = Added(listed: [], count: 0)
        let rule = rule.isPlain ? nil : rule
        let isList = tape.kind(place) == .array && !isRow
        let list = path?.path ?? tape.path(to: place), first = place == Tape.root ? parser.origin.firstElement : 0
        let entity = plan.plans[target.plan].entity
        drafter.beginList(list, name: drafter.documentValues.keepName(path?.name ?? -1, tape))
        func draft(_ index: Int) {
            added.count += 1
            let position = isList ? first + added.count - 1 : -1, element = added.count - 1
            if let listed = recognition?.recognize(element) {
                added.listed.append(listed)
                return
            }
            guard let message = message(tape, index, target, by: rule) else {
                if digestsRefused { added.noteRefused(JSONValue(tape, index)) }
                return
            }
            if rule != nil, digestsRefused { added.noteMessage(JSONValue(tape, index)) }
            var (tape, index) = (message.tape, message.record)
            if let edit = hooks.beforeDraft, let editedParser {
                var json = JSONValue(tape, index)
                guard edit(entity.name, &json) else {
                    if digestsRefused { added.noteRefused(JSONValue(tape, index)) }
                    return
                }
                guard let edited = ImportHooks.parsed(json, editedParser) else {
                    drafter.locate(list: list, position: position, place: index)
                    added.skipped += 1
                    return drafter.reportInvalid(tape, index, target.plan)
                }
                (tape, index) = (edited, Tape.root)
            }
            drafter.locate(list: list, position: position, place: index)
            let skipped = drafter.skipped, ordinal = start + added.count - 1
            if recognition != nil { drafter.list.beginElement(kept.nextElement()) }
            drafter.message = message.kind
            let key = drafter.draft(tape, index, plan: target.plan, parent: target.parent, ordinal: ordinal)
            drafter.message = .record
            recognition?.note(element, drafter.list, listed: key)
            if let key {
                added.listed.append(ListedRecord(entity: entity.root, storageKey: key))
            } else if let key = drafter.deletedKey {
                added.unlisted.append(ListedRecord(entity: entity.root, storageKey: key))
            } else if drafter.skipped > skipped {
                added.skipped += 1
            }
        }
        if isList, let recognition, recognition.isReduced {
            var index = place + 1
            for found in recognition.found {
                draft(index)
                if found < 0 { index = tape.next(index) }
            }
        } else if isList {
            tape.forEachElement(place) { draft($0) }
        } else {
            draft(place)
        }
        listed += added.count
        return added
    }

    /// Whether the result of an import depends on what else is in the unit: a record without a
    /// usable key fails it, or the first of several objects of a record counts.
    package var dependsOnUnits: Bool { plan.dependsOnUnits }

    /// Whether the mapping reads what surrounds a record, such as its position in a list.
    package var takesSurroundings: Bool { plan.takesSurroundings }

    /// Whether the mapping reads header fields or parameters of an ``ImportContext``.
    package var readsContext: Bool { plan.readsContext }

    /// The bytes that the current unit keeps in memory.
    var byteCount: Int { drafter.list.byteCount + kept.byteCount }

    /// The diagnostics of the unit so far.
    package var diagnostics: [Diagnostic] {
        let diagnostics = drafter.diagnostics.diagnostics
        return concealers.isEmpty ? diagnostics : diagnostics.map(concealed)
    }

    /// Whether the unit has failed and can only be discarded.
    ///
    /// A record has no usable key, and the policy is ``KeylessPolicy/fail``; or the drafts of a
    /// document are too large.
    package var hasFailed: Bool { drafter.failure != nil }

    /// Discards the current unit: everything that was added since the last commit.
    public func discard() {
        unit = ImportUnit()
        kept = KeptBodies()
        concealers = [:]
        drafter.reset()
        connected = []
        listed = 0
        for plan in plan.plans { _ = plan.takeUnmapped() }
    }
}

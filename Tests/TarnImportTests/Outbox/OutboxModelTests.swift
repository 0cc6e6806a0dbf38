// Random local changes, imports and ends of operations against a plain model.

import TarnImport
import TarnStore
import TestSupport
import Testing

@Suite("Outbox: model")
struct OutboxModelTests {
    @Test("after every step, records, lists, marks, operations and their order equal the model", arguments: 1...12)
    func model(seed: Int) throws {
        let run = try OutboxModelRun(seed: UInt64(seed))
        for step in 0..<(isSanitized ? 60 : 250) {
            let name = try run.step()
            let difference = try run.difference(isThorough: step % 50 == 49)
            #expect(difference == nil, "seed \(seed), step \(step), \(name)")
            guard difference == nil else { return }
        }
        // A short run may complete few.
        if isSanitized { return }
        #expect(run.completed > 5 && run.adopted > 0, "seed \(seed): too few operations were completed")
    }
}

private final class OutboxModelRun {
    static let schema = Schema([
        EntityDefinition("Repo", key: ["id"], attributes: [AttributeDefinition("id", .int)]),
        EntityDefinition(
            "Issue", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int, indexed: true),
                AttributeDefinition("title", .string, optional: true, indexed: true),
                AttributeDefinition("state", .string, optional: true),
            ],
            relationships: [
                RelationshipDefinition("repo", to: "Repo", inverse: "issues"),
                RelationshipDefinition("labels", to: "Label", many: true, ordered: true, inverse: "issues"),
                RelationshipDefinition("notes", to: "Note", many: true, inverse: "issue", onDelete: .nullify),
                RelationshipDefinition("reviews", to: "Review", many: true, joinedBy: .init("id", equals: "issueID")),
            ]),
        EntityDefinition("Label", key: ["name"], attributes: [AttributeDefinition("name", .string)]),
        EntityDefinition(
            "Note", key: ["id"],
            attributes: [AttributeDefinition("id", .int), AttributeDefinition("text", .string, optional: true)],
            relationships: [RelationshipDefinition("issue", to: "Issue", inverse: "notes")]),
        EntityDefinition(
            "Comment", key: ["issue", "number"],
            attributes: [AttributeDefinition("number", .int), AttributeDefinition("text", .string, optional: true)],
            relationships: [RelationshipDefinition("issue", to: "Issue", inverse: "comments")]),
        EntityDefinition(
            "Review", key: ["id"],
            attributes: [
                AttributeDefinition("id", .int), AttributeDefinition("issueID", .int, optional: true, indexed: true),
            ]),
    ])
    /// Long enough for edge lists.
    static let labels = (0..<30).map { RecordKey("label \($0) " + String(repeating: "x", count: 120)) }

    let bed: TestStore
    var model = OutboxModel()
    var random: SeededRandom
    var nextServerKey: Int64 = 1000
    /// The issues that the server has.
    var alive: Set<Int64> = []
    var completed = 0, adopted = 0, number = 0

    init(seed: UInt64) throws {
        bed = try TestStore(OutboxModelRun.schema)
        random = SeededRandom(seed: seed)
        for id in 1...4 as ClosedRange<Int64> {
            try put("Repo", id, [:])
            try put("Review", id, [:])
            try put("Note", id, ["text": .string("note \(id)")])
            try put(
                "Issue", id,
                [
                    "title": .string("issue \(id)"),
                    "labels": .references(Array(OutboxModelRun.labels.prefix(Int(id) * 6 - 5))),
                ])
            alive.insert(id)
        }
    }

    private func put(_ entity: String, _ id: Int64, _ values: [String: Value]) throws {
        try bed.store.write { try $0.put(entity, RecordKey(id), fields(values)) }
        model.records[OutboxRecord(entity, RecordKey(id))] = values.merging(["id": .int(id)]) { $1 }
    }

    private func fields(_ values: [String: Value]) -> [Record.Field] { values.map { Record.Field($0.key, $0.value) } }

    // MARK: - Choices

    private func roll(_ count: Int) -> Int { random.roll(0..<max(1, count)) }

    private func pick(_ entity: String) -> OutboxRecord? {
        let all = model.records.keys.filter { $0.entity == entity }.sorted { $0.description < $1.description }
        return all.isEmpty ? nil : all[roll(all.count)]
    }

    private func text() -> Value {
        number += 1
        return roll(6) == 0 ? .null : .string("text \(roll(3) == 0 ? 0 : number)")
    }

    private func reference(_ entity: String) -> Value {
        roll(5) == 0 ? .null : pick(entity).map { .reference($0.key) } ?? .null
    }

    private func someLabels(_ count: Int) -> [RecordKey] {
        Array(OutboxModelRun.labels.shuffled(using: &random).prefix(1 + roll(count)))
    }

    private func issueValues() -> [String: Value] {
        var values: [String: Value] = [:]
        if roll(2) == 0 { values["title"] = text() }
        if roll(3) == 0 { values["state"] = text() }
        if roll(3) == 0 { values["repo"] = reference("Repo") }
        if roll(4) == 0 { values["labels"] = .references(someLabels(30)) }
        return values
    }

    // MARK: - Steps

    func step() throws -> String {
        switch roll(20) {
        case 0...2: return try update("Issue", issueValues())
        case 3: return try update("Note", ["text": text(), "issue": reference("Issue")])
        case 4: return try update("Comment", ["text": text()])
        case 5, 6: return try create()
        case 7: return try delete()
        case 8, 9: return try changeMembers()
        case 10...14: return try send()
        case 15: return try retry()
        case 16, 17: return try discard()
        default: return try take()
        }
    }

    private func update(_ entity: String, _ values: [String: Value]) throws -> String {
        guard let record = pick(entity) else { return "nothing" }
        let receipt = try bed.store.write { try $0.enqueueUpdate(entity, record.key, fields(values)) }
        var update = ModelOperation(id: receipt.operation ?? .max, kind: .update, record: record)
        for (field, value) in values {
            let before = model.records[record]?[field]
            if before != value {
                update.changes.append(
                    .init(place: ModelPlace(record: record, field: field), before: before, after: value))
            }
        }
        guard !update.changes.isEmpty else {
            #expect(receipt.operation == nil && !receipt.isFolded)
            return "no update"
        }
        if update.id != .max, receipt.isFolded { update.id = .max }
        let isFolded = model.fold(update)
        #expect(receipt.isFolded == isFolded)
        if !isFolded { model.queue(update) }
        return "update \(record) \(values) \(receipt)"
    }

    private func create() throws -> String {
        var values: [String: Value] = ["text": text()], entity = "Note"
        switch roll(4) {
        case 0, 1: (values, entity) = (issueValues(), "Issue")
        case 2:
            values["issue"] = reference("Issue")
            if case .reference? = values["issue"] { entity = "Comment" }
        default: values["issue"] = reference("Issue")
        }
        let receipt = try bed.store.write { try $0.enqueueCreate(entity, .temporary, fields(values)) }
        let record = OutboxRecord(entity, receipt.key)
        var operation = ModelOperation(id: receipt.operation ?? 0, kind: .create, record: record)
        for (field, value) in values {
            operation.changes.append(.init(place: ModelPlace(record: record, field: field), before: nil, after: value))
        }
        var id: [String: Value] = [:]
        if case .int(let own)? = receipt.key.components.last { id[entity == "Comment" ? "number" : "id"] = .int(own) }
        model.records[record] = id
        model.queue(operation)
        return "create \(record)"
    }

    private func delete() throws -> String {
        guard let record = pick("Issue") else { return "nothing" }
        let receipt = try bed.store.write { try $0.enqueueDelete("Issue", record.key) }
        if let creation = model.creation(record), creation.state == .pending, creation.attempts == 0 {
            #expect(receipt.operation == nil)
            model.withdraw(creation.id)
            return "delete unsent \(record)"
        }
        for operation in model.operations.reversed()
        where operation.record == record && operation.kind == .update && operation.state == .pending
            && operation.attempts == 0
        {
            model.discard(operation.id)
        }
        var operation = ModelOperation(id: receipt.operation ?? 0, kind: .delete, record: record)
        operation.row = model.records[record]
        for note in model.records.keys where note.entity == "Note" && model.records[note]?["issue"].key == record.key {
            operation.changes.append(
                .init(
                    place: ModelPlace(record: note, field: "issue"), before: model.records[note]?["issue"], after: .null
                ))
        }
        model.queue(operation)
        model.records[record] = nil
        return "delete \(record) \(receipt)"
    }

    private func changeMembers() throws -> String {
        guard let record = pick("Issue") else { return "nothing" }
        let isAddition = roll(2) == 0, relationship = ["labels", "notes", "reviews"][roll(3)]
        let entity = ["labels": "Label", "notes": "Note", "reviews": "Review"][relationship] ?? ""
        let members = relationship == "labels" ? someLabels(3) : [pick(entity)?.key].compactMap(\.self)
        guard !members.isEmpty else { return "nothing" }
        let receipt = try bed.store.write {
            isAddition
                ? try $0.enqueueAdd(members, to: relationship, of: "Issue", record.key)
                : try $0.enqueueRemove(members, from: relationship, of: "Issue", record.key)
        }
        var operation = ModelOperation(id: receipt.operation ?? 0, kind: isAddition ? .add : .remove, record: record)
        operation.memberEntity = entity
        for member in members {
            if relationship == "labels" {
                let place = ModelPlace(record: record, field: "labels")
                let index = model.records[record]?["labels"].keys.firstIndex(of: member)
                guard (index == nil) == isAddition else { continue }
                operation.edits.append(
                    .init(place: place, target: member, position: index ?? .max, isInsertion: isAddition))
            } else {
                let place = ModelPlace(
                    record: OutboxRecord(entity, member), field: relationship == "notes" ? "issue" : "issueID")
                let before = model.records[place.record]?[place.field]
                guard case .int(let id)? = record.key.components.first else { continue }
                let own: Value = relationship == "notes" ? .reference(record.key) : .int(id)
                guard (before != own) == isAddition else { continue }
                operation.changes.append(.init(place: place, before: before, after: isAddition ? own : .null))
            }
            operation.members.append(member)
        }
        #expect((receipt.operation == nil) == operation.members.isEmpty)
        if !operation.members.isEmpty { model.queue(operation) }
        return "\(operation.kind) \(relationship) \(record) \(receipt)"
    }

    private func send() throws -> String {
        let ready = model.operations.filter { model.isReady($0) }
        guard !ready.isEmpty else { return "nothing ready" }
        let operation = ready[roll(min(3, ready.count))], id = operation.id
        guard let index = model.operations.firstIndex(where: { $0.id == id }) else { return "" }
        let claimed = try bed.store.write { try $0.claimOperations([id]) }
        #expect(claimed.map(\.id) == [id])
        if operation.state == .sending { model.operations[index].mayHaveArrived = true }
        model.operations[index].state = .sending
        model.operations[index].attempts += 1
        switch roll(8) {
        case 0: return "killed while sending \(id)"
        case 1:
            _ = try bed.store.write {
                try $0.retryOperationLater(id, notBefore: nil, OutboxFailure(kind: "connection", message: "no"))
            }
            model.operations[index].state = .pending
            return "later \(id)"
        case 2:
            _ = try bed.store.write { try $0.buryOperation(id, OutboxFailure(kind: "refused", message: "no")) }
            model.operations[index].state = .dead
            return "dead \(id)"
        default: return try complete(operation)
        }
    }

    private func complete(_ operation: ModelOperation) throws -> String {
        completed += 1
        guard operation.kind == .create else {
            _ = try bed.store.write { try $0.completeOperation(operation.id) }
            model.complete(operation.id)
            if operation.kind == .delete, case .int(let id)? = operation.record.key.components.first {
                alive.remove(id)
            }
            return "complete \(operation.id)"
        }
        adopted += 1
        nextServerKey += 1
        let components = operation.record.key.components
        let key = RecordKey(Array(components.dropLast()) + [.int(nextServerKey)])
        let new = OutboxRecord(operation.record.entity, key)
        var isBrought = false
        if operation.record.entity == "Issue" {
            alive.insert(nextServerKey)
            isBrought = roll(3) == 0
            if isBrought { try bring(nextServerKey) }
        }
        let completion = try bed.store.write { try $0.completeOperation(operation.id, adopting: key) }
        #expect(completion?.key == key)
        model.complete(operation.id)
        model.adopt(operation.record, new)
        return "complete \(operation.id) \(operation.record) as \(key)\(isBrought ? ", brought before" : "")"
    }

    private func retry() throws -> String {
        guard let index = model.operations.firstIndex(where: { $0.state == .dead }) else { return "none dead" }
        let id = model.operations[index].id
        _ = try bed.store.write { try $0.retryOperation(id) }
        model.operations[index].state = .pending
        return "retry \(id)"
    }

    private func discard() throws -> String {
        let all = model.operations.filter { $0.state != .sending }
        guard !all.isEmpty else { return "nothing" }
        let operation = all[roll(all.count)]
        let result = try bed.store.write { try $0.discardOperation(operation.id) }
        model.discard(operation.id)
        return "discard \(operation.id) \(operation.kind) \(operation.record): \(result.operations.map(\.id))"
    }

    private func take() throws -> String {
        if roll(4) == 0 { return try bringNote() }
        let known = alive.sorted()
        guard !known.isEmpty else { return "nothing" }
        let id = known[roll(known.count)]
        try bring(id)
        return "take Issue \(id)"
    }

    /// Imports an issue of the server.
    private func bring(_ id: Int64) throws {
        number += 1
        let labels = someLabels(30), title = "server \(number)"
        let names = labels.map { "\"\($0)\"" }.joined(separator: ",")
        try bed.take(#"[{"id":\#(id),"title":"\#(title)","repo":\#(1 + id % 4),"labels":[\#(names)]}]"#, "Issue")
        var values: [String: Value] = ["title": .string(title), "repo": .reference(RecordKey(1 + id % 4))]
        values["labels"] = .references(labels)
        values["id"] = .int(id)
        model.take(OutboxRecord("Issue", RecordKey(id)), values)
    }

    private func bringNote() throws -> String {
        number += 1
        guard !alive.isEmpty else { return "nothing" }
        let id = Int64(1 + roll(4)), issue = alive.sorted()[roll(alive.count)]
        try bed.take(#"[{"id":\#(id),"text":"server \#(number)","issue":\#(issue)}]"#, "Note")
        model.take(
            OutboxRecord("Note", RecordKey(id)),
            ["id": .int(id), "text": .string("server \(number)"), "issue": .reference(RecordKey(issue))])
        return "take Note \(id)"
    }

    // MARK: - Comparison

    func difference(isThorough: Bool) throws -> String? {
        if isThorough {
            let report = try bed.store.repair([.dryRun])
            if !report.isEmpty { return "repair would change \(report)" }
        }
        return try bed.store.read { reader in
            if let text = try records(reader) { return text }
            if let text = try marks(reader) { return text }
            return try operations(reader)
        }
    }

    private func records(_ reader: borrowing StoreReader) throws -> String? {
        var found: [OutboxRecord: [String: Value]] = [:]
        for entity in ["Repo", "Issue", "Label", "Note", "Comment", "Review"] {
            try reader.forEach(entity) { record in
                found[OutboxRecord(entity, record.key)] = Dictionary(
                    uniqueKeysWithValues: record.fields.map { ($0.name, $0.value) })
                return true
            }
        }
        for record in Set(found.keys).union(model.records.keys) where found[record] != model.records[record] {
            return
                "\(record): found \(found[record].map { "\($0)" } ?? "none"), expected \(model.records[record].map { "\($0)" } ?? "none")"
        }
        for issue in found.keys where issue.entity == "Issue" {
            for (name, entity, field) in [
                ("notes", "Note", "issue"), ("comments", "Comment", "issue"), ("reviews", "Review", "issueID"),
            ] {
                var targets: [RecordKey?] = []
                try reader.forEachRelated("Issue", issue.key, name) { target in
                    targets.append(target.key)
                    return true
                }
                let expected = model.records.filter { record, fields in
                    guard record.entity == entity, let value = fields[field] else { return false }
                    if case .int(let id) = value { return RecordKey(id) == issue.key }
                    return Optional(value).key == issue.key
                }
                if Set(targets) != Set(expected.keys.map { Optional($0.key) }) || targets.count != expected.count {
                    return "\(issue).\(name): \(targets), expected \(expected.keys.map(\.key))"
                }
            }
        }
        return nil
    }

    private func marks(_ reader: borrowing StoreReader) throws -> String? {
        var found: [String: String] = [:]
        func text(_ operation: LocalChange.Operation, _ fields: Set<String>, _ server: [String: Value]) -> String {
            "\(operation.rawValue) \(fields.sorted()) \(server.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })"
        }
        try reader.forEachLocalChange { change in
            found[OutboxRecord(change.entity, change.key).description] = text(
                change.operation, Set(change.fields),
                Dictionary(uniqueKeysWithValues: change.server.map { ($0.name, $0.value) }))
            return true
        }
        var expected: [String: String] = [:]
        for record in model.operations.reduce(into: Set<OutboxRecord>(), { $0.formUnion($1.touched) }) {
            if let mark = model.mark(record) {
                expected[record.description] = text(mark.operation, mark.fields, model.server[record] ?? [:])
            }
        }
        for key in Set(found.keys).union(expected.keys) where found[key] != expected[key] {
            return "mark of \(key): found \(found[key] ?? "none"), expected \(expected[key] ?? "none")"
        }
        return nil
    }

    private func operations(_ reader: borrowing StoreReader) throws -> String? {
        var found: [String] = [], ready: [UInt64] = [], counts = OutboxCounts()
        let outbox = reader.outbox
        func text(_ changes: [(String, Value?, Value)]) -> String {
            changes.sorted { $0.0 < $1.0 }.map { "\($0.0):\($0.1.map { "\($0)" } ?? "-")>\($0.2)" }.joined(
                separator: " ")
        }
        try outbox.forEach { operation in
            found.append(
                "\(operation.id) \(operation.kind) \(operation.record) \(operation.state) \(operation.attempts) \(operation.members) "
                    + text(operation.changes.map { ($0.name, $0.before, $0.after) }))
            if try outbox.entry(operation.id)?.isReady ?? false { ready.append(operation.id) }
            switch operation.state {
            case .pending: counts.pending += 1
            case .sending: counts.sending += 1
            case .dead: counts.dead += 1
            }
            if operation.state == .pending, operation.failure != nil { counts.failed += 1 }
            return true
        }
        let expected = model.operations.map { operation in
            let own = operation.changes.filter { $0.place.record == operation.record }
            return
                "\(operation.id) \(operation.kind) \(operation.record) \(operation.state) \(operation.attempts) \(operation.members) "
                + text(own.map { ($0.place.field, $0.before, $0.after) })
        }
        for (a, b) in zip(found, expected) where a != b { return "operation \(a), expected \(b)" }
        if found.count != expected.count { return "operations \(found), expected \(expected)" }
        let wanted = model.operations.filter { model.isReady($0) }.map(\.id)
        if ready != wanted { return "ready \(ready), expected \(wanted)" }
        return try outbox.counts == counts ? nil : "counts \(try outbox.counts), expected \(counts)"
    }
}

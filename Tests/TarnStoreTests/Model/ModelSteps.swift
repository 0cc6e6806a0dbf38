// One step of a transaction, on the store and on the oracle.

import Foundation
import Testing

@testable import TarnStore

enum ModelSteps {
    private static func key(_ kind: String, _ key: Int) -> RecordKey { ModelKeys.keys(ModelKind.named(kind).root)[key] }

    /// The values of fields in the order in which a dictionary has them: the store's is another.
    private static func values(_ kind: String, _ fields: [String: Int]) -> [Record.Field] {
        let entity = ModelKind.named(kind)
        return fields.filter { !entity.key.contains($0.key) }.map { name, code in
            switch entity.cell(name, code) {
            case .value(let value): return Record.Field(name, value)
            case .references(let keys, _):
                guard let relation = entity.relations[name] else { return Record.Field(name, .null) }
                let pool = ModelKeys.keys(ModelKind.named(relation.to).root)
                return Record.Field(
                    name, relation.many ? .references(keys.map { pool[$0] }) : .reference(pool[keys[0]]))
            }
        }
    }

    static func apply(_ step: Step, _ writer: inout StoreWriter, _ oracle: inout Oracle) throws {
        switch step {
        case .put(let kind, let key, let fields):
            try writer.put(kind, self.key(kind, key), values(kind, fields))
            oracle.put(kind, key, fields)
        case .merge(let kind, let key, let fields, let complete):
            try merge(kind, key, fields, complete, &writer)
            oracle.put(kind, key, fields, isComplete: complete, positions: true)
        case .typedPut(let key, _):
            let thing = thing(step)
            let id = self.key("Thing", key)
            try writer.put(thing)
            try apply(step, &oracle)
            let copy = try writer.reader().get(ModelThing.self, thing.id)
            try compare(copy, thing, id)
        case .typedPatch(let key, _):
            let thing = thing(step)
            let isThere = try writer.patch(ModelThing.self, thing.id) { row in
                for field in ModelThing.Field.allCases {
                    if let cell = thing.cells[field.name] { ModelThing.set(field, cell, &row) }
                }
            }
            guard isThere == (oracle.row("Thing", key) != nil) else {
                throw ModelFailure("a patch of Thing \(key) says \(isThere)")
            }
            try apply(step, &oracle)
        case .delete(let kind, let key): try delete(kind, key, nil, &writer, &oracle)
        case .putIf(let kind, let key, let fields, let right):
            let version = oracle.version(kind, key) + (right ? 0 : 1)
            do {
                try writer.put(kind, self.key(kind, key), values(kind, fields), ifVersion: version)
                guard right else { throw ModelFailure("\(kind) \(key) was put with a wrong version") }
                oracle.put(kind, key, fields)
            } catch StoreWriteError.versionMismatch where !right {
            }
        case .deleteIf(let kind, let key, let right):
            let version = (oracle.row(kind, key)?.version ?? 0) + (right ? 0 : 1)
            do {
                try delete(kind, key, version, &writer, &oracle)
                guard right else { throw ModelFailure("\(kind) \(key) was deleted with a wrong version") }
            } catch StoreWriteError.versionMismatch where !right {
            }
        case .swap(let key, let other):
            let cells = try [key, other].map { try login(of: $0, writer.reader()) }
            for (key, login) in [(key, cells[1]), (other, cells[0])] {
                guard let login, oracle.row("Thing", key) != nil else { continue }
                try writer.put("Thing", self.key("Thing", key), [.init("login", login)])
                oracle.merge(
                    "Thing", key, ModelKind.named("Thing").keyCells(key).merging(["login": .value(login)]) { $1 },
                    isComplete: true)
            }
        case .look(let kind, let key, let salt):
            let reader = try writer.reader(), place = Place(root: ModelKind.named(kind).root, key: key)
            try ModelChecks.compare(reader, oracle, place, salt: salt)
            let count = try reader.count(kind)
            guard count == oracle.rows(kind).count else {
                throw ModelFailure("in the write there are \(count) \(kind)")
            }
        case .applyIndexChanges: try writer.applyIndexChanges()
        }
    }

    /// Nil if the record does not exist, or nothing is known.
    private static func login(of key: Int, _ reader: StoreReader) throws -> Value? {
        try reader.record("Thing", self.key("Thing", key))?["login"]
    }

    /// The effect of a step on the oracle, if it does not depend on the store.
    static func apply(_ step: Step, _ oracle: inout Oracle) throws {
        switch step {
        case .put(let kind, let key, let fields): oracle.put(kind, key, fields)
        case .merge(let kind, let key, let fields, let complete):
            oracle.put(kind, key, fields, isComplete: complete, positions: true)
        case .typedPut(let key, _):
            var cells = thing(step).cells
            for field in ModelThing.Field.allCases where field != .id && cells[field.name] == nil {
                cells[field.name] = .value(.null)
            }
            oracle.merge("Thing", key, plain(cells, key), isComplete: true)
        case .typedPatch(let key, _):
            if oracle.row("Thing", key) != nil {
                oracle.merge("Thing", key, plain(thing(step).cells, key), isComplete: false)
            }
        default: throw ModelFailure("\(step) cannot be in a group")
        }
    }

    private static func plain(_ cells: [String: Cell], _ key: Int) -> [String: Cell] {
        cells.mapValues { if case .references(let keys, _) = $0 { .references(keys) } else { $0 } }
            .merging(ModelKind.named("Thing").keyCells(key)) { $1 }
    }

    private static func thing(_ step: Step) -> ModelThing {
        let (key, fields): (Int, [String: Int]) =
            switch step {
            case .typedPut(let key, let fields), .typedPatch(let key, let fields): (key, fields)
            default: (0, [:])
            }
        let entity = ModelKind.named("Thing")
        guard case .int(let id) = self.key("Thing", key).components[0] else { return ModelThing(0, [:]) }
        return ModelThing(id, Dictionary(uniqueKeysWithValues: fields.map { ($0.key, entity.cell($0.key, $0.value)) }))
    }

    private static func compare(_ copy: ModelThing?, _ thing: ModelThing, _ key: RecordKey) throws {
        for field in ModelThing.read {
            let wanted = thing.cells[field.name] ?? .value(.null)
            guard let found = copy?.cells[field.name], ModelOrder.areSame(["": found], ["": wanted]) else {
                throw ModelFailure(
                    "Thing \(key), as a struct: \(field) is \(String(describing: copy?.cells[field.name])), not \(wanted)"
                )
            }
        }
    }

    private static func delete(
        _ kind: String, _ key: Int, _ version: UInt64?, _ writer: inout StoreWriter, _ oracle: inout Oracle
    ) throws {
        var next = oracle
        let expected = next.delete(kind, key)
        do {
            let found = try writer.delete(kind, self.key(kind, key), ifVersion: version)
            guard expected != .denied, found == (expected != .missing) else {
                throw ModelFailure("the delete of \(kind) \(key) says \(found), not \(expected)")
            }
            oracle = next
        } catch StoreWriteError.deleteDenied {
            guard expected == .denied else {
                throw ModelFailure("the delete of \(kind) \(key) is denied, not \(expected)")
            }
            oracle.denials += 1
        }
    }

    /// Stores a record as the import does: as a body of fields, with positions.
    private static func merge(
        _ kind: String, _ key: Int, _ fields: [String: Int], _ complete: Bool, _ writer: inout StoreWriter
    ) throws {
        let model = ModelKind.named(kind), recordKey = self.key(kind, key), storageKey = recordKey.storageKey
        let entity = try writer.access.state.entity(kind)
        var said = entity.keyValues(recordKey)
        for field in values(kind, fields) { if let id = entity.field(field.name)?.id { said[id] = field.value } }
        var builder = BodyBuilder(), body = ByteWriter()
        storageKey.withUnsafeBytes { builder.wholeKey(entity, $0) { recordKey.tuple } }
        for (id, value) in said.sorted(by: { $0.key < $1.key }) {
            builder.field(id) { writer in
                guard case .reference(let target) = value, let name = entity.field(id: id)?.name,
                    let code = fields[name],
                    case .references(_, let position?) = model.cell(name, code)
                else { return writer.appendValue(value) }
                writer.append(ValueTag.positionedReference)
                writer.appendLittleEndian(position)
                writer.append(target.storageKey)
            }
        }
        let isWide = builder.isWide
        builder.finish(into: &body)
        guard let view = RowBody(body.bytes, isWide: isWide) else { throw ModelFailure("a body cannot be read") }
        _ = try storageKey.withUnsafeBytes { try writer.merge(entity, $0, view, isComplete: complete) }
    }
}

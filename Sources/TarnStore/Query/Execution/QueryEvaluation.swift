// The evaluation of a query's condition and paths on rows, in one transaction.

internal import LMDB

/// The last target of a step: paths of neighbouring records often lead to the same one.
private final class StepTarget {
    /// The key of the search: the reference, the joined value, or the key of the step's origin.
    var sought = ByteWriter(capacity: 64)
    var isKnown = false
    /// The number of the record for which the target was resolved last.
    var turn = 0
    /// The target's storage key and row; no row if it is missing.
    var key = ByteWriter(capacity: 64)
    var row: RowBody?
    /// The copy of a row that was compressed.
    var copy = ByteWriter(capacity: 16)
}

/// Evaluates conditions and paths of one query, row after row.
///
/// The program and the places are raw memory, read for every row without reference counting. The
/// filter owns the program and bounds its jumps; a row is read after a comparison with its size.
final class QueryEvaluation {
    let access: any QueryRecords
    private let places: [QueryPlace]
    private let steps: [QueryStep]
    private let filter: QueryFilter
    /// The fields of places in the record's own row: a read does no reference counting.
    private let direct: UnsafeMutableBufferPointer<(field: UInt16, rank: UInt16, isDirect: Bool, isFolded: Bool)>
    private let program: UnsafeMutableBufferPointer<QueryFilter.Instruction>
    private let start: Int32
    private var targets: [StepTarget] = []
    private var turn = 0
    private var folded = ByteWriter(capacity: 256)
    private var followed = ByteWriter(capacity: 256)

    init(_ access: any QueryRecords, _ places: QueryPlaces, _ filter: QueryFilter) {
        self.access = access
        self.places = places.places
        steps = places.steps
        self.filter = filter
        program = filter.instructions
        start = filter.start
        targets = steps.map { _ in StepTarget() }
        direct = .allocate(capacity: places.places.count)
        _ = direct.initialize(
            from: places.places.map { place in
                (
                    place.field ?? 0, UInt16(clamping: place.rank), place.origin == 0 && place.field != nil,
                    place.isFolded
                )
            })
    }

    deinit { direct.deallocate() }

    /// Starts the evaluation of a record: results along the paths of the previous one do not apply.
    @inline(__always)
    func begin() { if !steps.isEmpty { turn &+= 1 } }

    func isFolded(_ index: Int) -> Bool { direct[index].isFolded }

    /// Locates and prefetches the value that the first test reads, for each row of a batch.
    ///
    /// The directory with its offset is close to the row's beginning. The result is empty where a
    /// value needs more work to locate.
    func findAhead(
        _ rows: UnsafeBufferPointer<RawCursor.Entry>, of entity: UInt16, into values: UnsafeMutableBufferPointer<Bytes>
    ) {
        var field: UInt16 = 0, rank = Int.max
        if start >= 0, program[Int(start)].isComparison {
            (field, rank) = (program[Int(start)].field, Int(program[Int(start)].rank))
        }
        for (index, (_, row)) in rows.enumerated() {
            let value = rank == .max ? nil : QueryEvaluation.value(of: field, at: rank, in: row, of: entity)
            if let value { ask(for: value.baseAddress.unsafelyUnwrapped) }
            values.initializeElement(at: index, to: value ?? .empty)
        }
    }

    /// Returns a value of an uncompressed row of an entity, not empty.
    ///
    /// The result is nil if the value is not at its position in a row that has every field.
    @inline(__always)
    private static func value(of field: UInt16, at rank: Int, in row: Bytes, of entity: UInt16) -> Bytes? {
        let place = RowFormat.headerSize + 2 + rank * 4
        guard let base = row.baseAddress, row.count >= place + 4, base.load(as: UInt8.self) == RowFormat.version,
            base.load(fromByteOffset: 1, as: UInt8.self) & ~RowFormat.partial == 0,
            base.load(fromByteOffset: 2, as: UInt8.self) == RowFormat.uncompressed, number(6) == Int(entity),
            number(place) == Int(field)
        else { return nil }
        func number(_ offset: Int) -> Int {
            Int(UInt16(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
        }
        let fields = number(RowFormat.headerSize), values = RowFormat.headerSize + 2 + fields * 4
        let start = values + (rank == 0 ? 0 : number(place - 2)), end = values + number(place + 2)
        guard rank < fields, start < end, end <= row.count else { return nil }
        return Bytes(start: base + start, count: end - start)
    }

    /// Returns whether the first test alone rejects a record.
    ///
    /// - Parameter value: the result of ``findAhead(_:of:into:)`` for the record; not empty.
    @inline(__always)
    func rejects(_ value: Bytes) -> Bool {
        let first = program.baseAddress.unsafelyUnwrapped + Int(start), value = EncodedValue(value)
        return (!value.isNull && first.pointee.isMet(by: value) ? first.pointee.onTrue : first.pointee.onFalse)
            == QueryFilter.reject
    }

    /// Returns whether a record meets the condition.
    @inline(__always)
    func admits(_ key: Bytes, _ row: RowBody) throws -> Bool {
        var next = start
        let program = program
        while next >= 0 {
            let instruction = program.baseAddress.unsafelyUnwrapped + Int(next)
            let isMet: Bool
            if instruction.pointee.isDirect, instruction.pointee.code != .containsTarget {
                if let value = row.value(of: instruction.pointee.field, at: Int(instruction.pointee.rank)),
                    !value.isNull
                {
                    isMet =
                        instruction.pointee.code == .isMissing
                        ? instruction.pointee.order == .reference && isEmptyList(value)
                        : instruction.pointee.isMet(by: value)
                } else {
                    isMet = instruction.pointee.code == .isMissing
                }
            } else {
                isMet = try isMetElsewhere(instruction.pointee, key, row)
            }
            next = isMet ? instruction.pointee.onTrue : instruction.pointee.onFalse
        }
        return next == QueryFilter.accept
    }

    private func isEmptyList(_ value: EncodedValue) -> Bool {
        if value.tag == ValueTag.references { return value.bytes.count == 1 }
        return EdgeList(value).map { $0.count == 0 } ?? false
    }

    /// Tests values behind relationships, followed relationships, and text whose case is ignored.
    private func isMetElsewhere(_ instruction: QueryFilter.Instruction, _ key: Bytes, _ row: RowBody) throws -> Bool {
        let place = places[Int(instruction.place)]
        if case .toMany = place.kind { return try isMetByList(instruction, place, key, row) }
        let value = try value(at: Int(instruction.place), key, row)
        guard let value else { return instruction.code == .isMissing }
        if instruction.code == .isMissing { return false }
        guard instruction.order == .foldedText else { return instruction.isMet(by: value) }
        guard value.tag == ValueTag.array else { return instruction.isMet(by: fold(value)) }
        var isFound = false
        value.forEachElement { element in
            if !isFound, !element.isNull {
                let folded = fold(element)
                isFound =
                    instruction.code == .containsTextInElement
                    ? folded.payload.contains(bytes: instruction.operand.bytes)
                    : folded.order(to: instruction.operand, instruction.order) == 0
            }
        }
        return isFound
    }

    private func isMetByList(
        _ instruction: QueryFilter.Instruction, _ place: QueryPlace, _ key: Bytes, _ row: RowBody
    ) throws -> Bool {
        var isFound = false
        guard let (key, row) = try origin(place.origin, key, row) else { return instruction.code == .isMissing }
        let isMissing = instruction.code == .isMissing
        let body: (Bytes) -> Bool = { target in
            isFound = isMissing || Bytes.equal(target, instruction.operand.bytes)
            return !isFound
        }
        switch place.source {
        case .stored(let field):
            guard let value = row.value(of: field, at: place.rank), !value.isNull else { return isMissing }
            guard try access.forEachReference(value, body) || isFound else {
                throw StoreError.damagedRow(entity: place.owner, key: access.describe(key))
            }
        case .followed(let relationship): try access.targets(of: key, relationship, body)
        }
        return isFound != isMissing
    }

    /// Returns the value at a place of a record; nil if it is missing.
    ///
    /// A value of the record's own row is returned in place. It is valid until the next call.
    @inline(__always)
    func value(at index: Int, _ key: Bytes, _ row: RowBody) throws -> EncodedValue? {
        let known = direct[index]
        guard known.isDirect else { return try followedValue(at: index, key, row) }
        guard let value = row.value(of: known.field, at: Int(known.rank)), !value.isNull else { return nil }
        return value
    }

    private func followedValue(at index: Int, _ key: Bytes, _ row: RowBody) throws -> EncodedValue? {
        let place = places[index]
        guard let (key, row) = try origin(place.origin, key, row) else { return nil }
        switch place.source {
        case .stored(let field):
            guard let value = row.value(of: field, at: place.rank), !value.isNull else { return nil }
            return value
        case .followed(let relationship):
            followed.removeAll()
            try access.targets(of: key, relationship) { target in
                followed.append(ValueTag.reference)
                followed.append(target)
                return false
            }
            return followed.count == 0 ? nil : EncodedValue(followed.bytes)
        }
    }

    /// Folds the case of a text. The result is valid until the next call.
    func fold(_ value: EncodedValue) -> EncodedValue {
        folded.removeAll()
        folded.append(value.tag)
        CaseFolding.append(value.payload, to: &folded)
        return EncodedValue(folded.bytes)
    }

    /// Returns the record that a place belongs to; nil if it is missing.
    private func origin(_ index: Int, _ key: Bytes, _ row: RowBody) throws -> (Bytes, RowBody)? {
        if index == 0 { return (key, row) }
        let target = targets[index - 1]
        if target.turn != turn {
            try resolve(index - 1, target, key, row)
            target.turn = turn
        }
        return target.row.map { (target.key.bytes, $0) }
    }

    private func resolve(_ index: Int, _ target: StepTarget, _ key: Bytes, _ row: RowBody) throws {
        let step = steps[index]
        guard let (key, row) = try origin(step.origin, key, row) else { return forget(target) }
        switch step.source {
        case .stored(let field):
            guard let reference = row.value(of: field, at: step.rank)?.reference else { return forget(target) }
            if target.isKnown, Bytes.equal(reference, target.sought.bytes) { return }
            seek(reference, target)
            try read(step, target, reference)
        case .followed(let relationship):
            // A join depends only on the record's own value, which many records share.
            var sought = key
            if let join = relationship.join {
                guard let value = row.value(of: join.own), !value.isNull else { return forget(target) }
                sought = value.bytes
            }
            if target.isKnown, Bytes.equal(sought, target.sought.bytes) { return }
            seek(sought, target)
            try access.targets(of: key, relationship) { found in
                try read(step, target, found)
                return false
            }
        }
        target.isKnown = true
    }

    private func forget(_ target: StepTarget) {
        target.isKnown = false
        target.row = nil
    }

    /// Begins a search. If it fails, the next record with the same value fails, too.
    private func seek(_ sought: Bytes, _ target: StepTarget) {
        forget(target)
        target.sought.removeAll()
        target.sought.append(sought)
    }

    private func read(_ step: QueryStep, _ target: StepTarget, _ key: Bytes) throws {
        target.key.removeAll()
        target.key.append(key)
        target.row = nil
        try access.lending {
            guard let found = try access.row(step.destination, target.key.bytes) else { return }
            // A row in the map stays where it is; a decompressed one is released at the end of this
            // closure.
            if access.keepsRowsInPlace, EncodedRow.dictionary(of: found.bytes) == nil {
                return target.row = found.body
            }
            target.copy.removeAll()
            target.copy.append(found.body.bytes)
            target.row = RowBody(target.copy.bytes, isWide: found.body.isWide)
        }
    }
}

// A condition as a flat program: tests with jumps, evaluated on the bytes of each row.

/// The program of a condition.
///
/// It owns its memory, which never changes, so running it does no reference counting. The memory is
/// raw for the same reason. Each jump is to an instruction that was appended before, and each list
/// of operands has the length with which it was allocated.
final class QueryFilter {
    /// One test, and the next instruction for each outcome.
    ///
    /// The next instruction is an index of the program, `accept` or `reject`.
    struct Instruction {
        enum Code: UInt8 {
            case isMissing, equal, less, lessOrEqual, greater, greaterOrEqual, isIn, hasPrefix, containsText,
                containsElement, containsTextInElement, containsTarget, like
        }

        var code: Code
        var order: ValueOrder
        /// Whether the place is a field of the record itself that is compared in place.
        var isDirect: Bool
        var place: Int32
        var field: UInt16
        var rank: Int32
        var onTrue: Int32
        var onFalse: Int32
        var operand = StoredOperand()
        /// The operands of `isIn`, or the pattern of `like`.
        var list: UnsafeRawBufferPointer = .empty

        /// Whether the test reads a value in place, and null does not meet it.
        var isComparison: Bool { isDirect && code != .isMissing && code != .containsTarget }
    }

    static let accept: Int32 = -1
    static let reject: Int32 = -2

    private(set) var start: Int32 = accept
    private(set) var instructions = UnsafeMutableBufferPointer<Instruction>(start: nil, count: 0)
    /// The memory of operands, freed in `deinit`.
    private var memory: [UnsafeMutableRawBufferPointer] = []

    var isEmpty: Bool { start == QueryFilter.accept }

    init(_ node: QueryNode, _ places: QueryPlaces) {
        var list: [Instruction] = []
        start = append(node, onTrue: QueryFilter.accept, onFalse: QueryFilter.reject, places, &list)
        instructions = .allocate(capacity: list.count)
        _ = instructions.initialize(from: list)
    }

    deinit {
        instructions.deallocate()
        for bytes in memory { bytes.deallocate() }
    }

    /// Appends the program of a node, and returns its first instruction.
    ///
    /// The instructions of both outcomes have to exist already.
    private func append(
        _ node: QueryNode, onTrue: Int32, onFalse: Int32, _ places: QueryPlaces, _ list: inout [Instruction]
    ) -> Int32 {
        switch node {
        case .always: return onTrue
        case .never: return onFalse
        case .test(let test, let isNegated):
            let (onTrue, onFalse) = isNegated ? (onFalse, onTrue) : (onTrue, onFalse)
            list.append(instruction(test, places, onTrue: onTrue, onFalse: onFalse))
            return Int32(list.count - 1)
        case .all(let nodes):
            return nodes.reversed().reduce(onTrue) { next, node in
                append(node, onTrue: next, onFalse: onFalse, places, &list)
            }
        case .any(let nodes):
            return nodes.reversed().reduce(onFalse) { next, node in
                append(node, onTrue: onTrue, onFalse: next, places, &list)
            }
        }
    }

    private func instruction(_ test: QueryTest, _ places: QueryPlaces, onTrue: Int32, onFalse: Int32) -> Instruction {
        let place = places[test.place], order = place.order
        var code: Instruction.Code, operand = StoredOperand(), list = UnsafeRawBufferPointer.empty
        switch test.operation {
        case .isMissing: code = .isMissing
        case .compare(let relation, let value):
            code =
                switch relation {
                case .equal: .equal
                case .less: .less
                case .lessOrEqual: .lessOrEqual
                case .greater: .greater
                case .greaterOrEqual: .greaterOrEqual
                }
            operand = stored(value, order)
        case .isIn(let values):
            code = .isIn
            let operands = keep(values.count * MemoryLayout<StoredOperand>.stride)
            for (index, value) in values.enumerated() {
                (operands.baseAddress.unsafelyUnwrapped + index * MemoryLayout<StoredOperand>.stride)
                    .initializeMemory(as: StoredOperand.self, to: stored(value, order))
            }
            list = UnsafeRawBufferPointer(operands)
        case .hasPrefix(let text):
            code = .hasPrefix
            operand.bytes = kept(text)
        case .containsText(let text):
            code = .containsText
            operand.bytes = kept(text)
        case .containsElement(let value):
            code = .containsElement
            guard case .attribute(.array(let element)) = place.kind else { break }
            operand = stored(value, ValueOrder(element, folded: place.isFolded))
        case .containsTextInElement(let text):
            code = .containsTextInElement
            operand.bytes = kept(text)
        case .containsTarget(let value):
            code = .containsTarget
            operand = stored(value, .reference)
        case .like(let pattern):
            code = .like
            list = pattern.tokens.withUnsafeBytes { kept($0) }
        }
        var elementOrder = order
        if case .attribute(.array(let element)) = place.kind {
            elementOrder = ValueOrder(element, folded: place.isFolded)
        }
        let isDirect = place.origin == 0 && place.field != nil && elementOrder != .foldedText
        return Instruction(
            code: code, order: elementOrder, isDirect: isDirect, place: Int32(test.place), field: place.field ?? 0,
            rank: Int32(place.rank), onTrue: onTrue, onFalse: onFalse, operand: operand, list: list)
    }

    private func keep(_ count: Int) -> UnsafeMutableRawBufferPointer {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 1), alignment: 16)
        memory.append(bytes)
        return UnsafeMutableRawBufferPointer(rebasing: bytes[0..<count])
    }

    private func kept(_ bytes: Bytes) -> Bytes {
        let copy = keep(bytes.count)
        copy.copyMemory(from: bytes)
        return Bytes(copy)
    }

    private func kept(_ bytes: [UInt8]) -> Bytes { bytes.withUnsafeBytes { kept($0) } }

    /// Copies the encoded value to the filter's memory; the operand points there.
    private func stored(_ operand: Operand, _ order: ValueOrder) -> StoredOperand {
        StoredOperand(EncodedValue(kept(operand.value)), order)
    }
}

extension QueryFilter.Instruction {
    /// Returns whether a present value meets the test.
    ///
    /// Missing values and lists of targets are tested in `QueryEvaluation`.
    @inline(__always)
    func isMet(by value: EncodedValue) -> Bool {
        switch code {
        case .isMissing: return false
        case .equal: return value.order(to: operand, order).map { $0 == 0 } ?? false
        case .less: return value.order(to: operand, order).map { $0 < 0 } ?? false
        case .lessOrEqual: return value.order(to: operand, order).map { $0 <= 0 } ?? false
        case .greater: return value.order(to: operand, order).map { $0 > 0 } ?? false
        case .greaterOrEqual: return value.order(to: operand, order).map { $0 >= 0 } ?? false
        case .isIn: return isAmong(value)
        case .hasPrefix: return value.payload.hasPrefix(operand.bytes)
        case .containsText: return value.payload.contains(bytes: operand.bytes)
        case .like: return LikePattern.matches(value.payload, list.bindMemory(to: LikePattern.Token.self))
        case .containsElement: return hasElement(value)
        case .containsTextInElement: return hasPartInElement(value)
        case .containsTarget: return false
        }
    }

    private func isAmong(_ value: EncodedValue) -> Bool {
        let operands = list.bindMemory(to: StoredOperand.self)
        var low = 0, high = operands.count
        while low < high {
            let middle = (low + high) / 2
            guard let order = value.order(to: operands[middle], order) else { return false }
            if order == 0 { return true }
            if order > 0 { low = middle + 1 } else { high = middle }
        }
        return false
    }

    private func hasPartInElement(_ value: EncodedValue) -> Bool {
        var isFound = false
        value.forEachElement { if !isFound, !$0.isNull { isFound = $0.payload.contains(bytes: operand.bytes) } }
        return isFound
    }

    private func hasElement(_ value: EncodedValue) -> Bool {
        var isFound = false
        value.forEachElement { if !isFound, !$0.isNull { isFound = $0.order(to: operand, order) == 0 } }
        return isFound
    }
}

extension RowBody {
    /// Returns the value of a field; nil if it is absent.
    ///
    /// - Parameter rank: the field's position in a row that has every field, which is tried first.
    @inline(__always)
    func value(of id: UInt16, at rank: Int) -> EncodedValue? {
        place(of: id, tryingFirst: rank).flatMap { value(at: $0) }
    }
}

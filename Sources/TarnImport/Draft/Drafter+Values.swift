// The attributes of a draft: coerced values, nulls, and the unmapped rest.

internal import TarnStore

extension Drafter {
    mutating func setNull(_ tape: Tape, _ null: Int, _ position: Int, _ plan: EntityPlan) {
        let slot = plan.slots[position]
        if case .derived(let derived) = slot.kind { return derivedList(tape, null, position, plan, derived) }
        if !slot.isOptional {
            let (tape, index) = found.at(null, tape)
            report(
                .valueNull, tape, index, plan, keyText, plan.details[position].name,
                "null, but the description requires a value")
        }
        builder.field(slot.field) { $0.appendValueNull() }
    }

    /// Adds the attribute value at a place of any kind. Returns whether the type accepts it.
    mutating func attribute(at value: Int, _ tape: Tape, _ position: Int, _ plan: EntityPlan) -> Bool {
        if PlaceList.Place.isInside(value) { return attribute(tape, value, position, plan) }
        let kind = PlaceList.Place.kind(value)
        if kind == .list || kind == .outerList { return listAttribute(tape, value, position, plan) }
        let (source, index) = found.at(value, tape)
        return attribute(source, index, position, plan)
    }

    /// Adds the value of an attribute or a relationship that is absent from a listed record.
    mutating func absentAttribute(_ position: Int, _ plan: EntityPlan) -> Bool {
        let slot = plan.slots[position]
        if case .derived(let derived) = slot.kind {
            absentList(position, plan, derived)
            return true
        }
        guard slot.absentValue >= 0, let tape = documentValues.tape else {
            builder.field(slot.field) { $0.appendValueNull() }
            return true
        }
        let place = documentValues.places[Int(slot.absentValue)]
        guard tape.kind(place) != .null else {
            builder.field(slot.field) { $0.appendValueNull() }
            return true
        }
        return attribute(tape, place, position, plan) || slot.isOptional
    }

    /// Adds a list of values that are not adjacent on a tape.
    private mutating func listAttribute(_ tape: Tape, _ value: Int, _ position: Int, _ plan: EntityPlan) -> Bool {
        var text = ByteWriter()
        text.append(UInt8(ascii: "["))
        for element in found.list(value) {
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            tape.appendText(found.elements[element], to: &text)
        }
        text.append(UInt8(ascii: "]"))
        guard let parser = try? joined ?? JSONParser(), let list = try? parser.parse(text.bytes) else { return false }
        joined = parser
        return attribute(list, Tape.root, position, plan)
    }

    private mutating func attribute(_ tape: Tape, _ index: Int, _ position: Int, _ plan: EntityPlan) -> Bool {
        var isTaken = true
        let field = plan.slots[position].field
        let hasTransformers = plan.rules[position]._withUnsafeGuaranteedRef { rule in
            if !rule.hasTransformers { builder.field(field) { isTaken = tape.appendValue(index, by: rule, to: &$0) } }
            return rule.hasTransformers
        }
        if hasTransformers { isTaken = transformedAttribute(tape, index, field, plan.details[position].rule) }
        guard !isTaken else { return true }
        let details = plan.details[position], rule = details.rule
        if let fallback = rule.fallback, tape.kind(index) == .string {
            builder.field(plan.slots[position].field) { $0.appendValue(.string(fallback)) }
            report(
                .valueUnknown, tape, index, plan, keyText, details.name,
                "\(tape.describe(index)) is not one of the values of the enum; \(fallback) is stored instead")
            return true
        }
        report(
            .valueType, tape, index, plan, keyText, details.name,
            "expected \(rule.type), found \(tape.describe(index))\(Drafter.enumHint(tape, index, rule)); the stored value is kept"
        )
        return false
    }

    /// Adds a transformed value. Returns false if a transformer or the type refuses the value.
    private mutating func transformedAttribute(_ tape: Tape, _ index: Int, _ field: UInt16, _ rule: ValueRule) -> Bool {
        guard let value = rule.transformers.decode(JSONValue(tape, index)) else { return false }
        guard value != .null else {
            builder.field(field) { $0.appendValueNull() }
            return true
        }
        guard let parser = try? transformed ?? JSONParser() else { return false }
        transformed = parser
        guard let result = try? parser.parse(text: value.text) else { return false }
        var isTaken = false
        builder.field(field) { isTaken = result.appendValue(Tape.root, by: rule, to: &$0) }
        return isTaken
    }

    /// Appends the unmapped part of an object as JSON.
    ///
    /// - Parameter isNeeded: whether an empty object is appended, too.
    /// - Returns: whether something was appended.
    static func appendRest(
        _ tape: Tape, _ object: Int, _ plan: EntityPlan, node: Int, isNeeded: Bool, to writer: inout ByteWriter
    ) -> Bool {
        let start = writer.count, end = tape.end(object)
        writer.append(UInt8(ascii: "{"))
        var index = object + 1
        while index < end {
            let value = index + 1, before = writer.count
            let position = plan.nodes[node].table.find(tape.string(index))
            let entry = position.map { plan.nodes[node].entries[$0] }
            // Keys beyond the limits on registered keys are not in the table.
            let isKept =
                entry.map { $0.unmapped == KeyNode.Entry.kept } ?? !plan.ignores(tape.string(index), in: node)
            let child = entry.flatMap { $0.taker < 0 && $0.child >= 0 ? Int($0.child) : nil }
            if isKept || child != nil {
                if before > start + 1 { writer.append(UInt8(ascii: ",")) }
                tape.appendText(index, to: &writer)
                writer.append(UInt8(ascii: ":"))
                if let child, tape.kind(value) == .object {
                    if !appendRest(tape, value, plan, node: child, isNeeded: false, to: &writer) {
                        writer.truncate(to: before)
                    }
                } else {
                    tape.appendText(value, to: &writer)
                }
            }
            index = tape.next(value)
        }
        if writer.count == start + 1, !isNeeded {
            writer.truncate(to: start)
            return false
        }
        writer.append(UInt8(ascii: "}"))
        return true
    }
}

// Values from outside of a record's own keys: from its surroundings, the document, or composed
// texts.

internal import TarnStore

extension Drafter {
    /// Adds the values of extra sources to the located places, for the key only or for all slots.
    static func resolve(
        _ tape: Tape, _ plans: [EntityPlan], _ plan: EntityPlan, _ object: Int, _ around: Surroundings,
        _ values: DocumentValues.Reference,
        keyOnly: Bool, _ found: inout PlaceList
    ) {
        found.resetExtras()
        let values = values.takeUnretainedValue()
        found.document = values.tape
        for extra in plan.extras where extra.isKey || !keyOnly {
            guard extra.rank < found[extra.slot].rank || (extra.mayBeNull && found[extra.slot].null < 0)
            else { continue }
            switch resolve(extra.kind, tape, plans, object, around, values, &found) {
            case .absent: break
            case .null(let place): found[extra.slot].null = place
            case .value(let place):
                guard extra.rank < found[extra.slot].rank else { break }
                found[extra.slot].value = place
                found[extra.slot].rank = extra.rank
            }
        }
        if let injection = values.keyInjection { inject(injection, tape, plan, object, around, &found) }
    }

    /// Calls the hook for the parts of a key that no other source has.
    private static func inject(
        _ injection: ImportHooks.KeyInjection, _ tape: Tape, _ plan: EntityPlan, _ object: Int, _ around: Surroundings,
        _ found: inout PlaceList
    ) {
        guard plan.keySlots.contains(where: { found[$0].value < 0 }) else { return }
        let parent = around.parent < 0 ? nil : JSONValue(tape, around.parent)
        let said = injection(plan.entity.name, JSONValue(tape, object), parent)
        for slot in plan.keySlots where found[slot].value < 0 {
            let text: String
            switch said[plan.details[slot].name] {
            case .string(let value): text = value
            case .number(let digits): text = digits
            default: continue
            }
            found[slot].value = PlaceList.Place.number(.made, found.made.append(text))
            found[slot].rank = Int.max - 1
        }
    }

    private enum Found {
        case absent
        case null(Int)
        case value(Int)
    }

    private static func resolve(
        _ kind: ExtraSource.Kind, _ tape: Tape, _ plans: [EntityPlan], _ object: Int, _ around: Surroundings,
        _ values: DocumentValues, _ found: inout PlaceList
    ) -> Found {
        typealias Place = PlaceList.Place
        switch kind {
        case .own(let steps, let list): return walk(tape, object, steps, list, takesNames: values.takesNames, &found)
        case .place(let place, let steps, let list):
            let start = found[place].value
            if start >= 0 { return walk(tape, start, steps, list, takesNames: values.takesNames, &found) }
            return steps.isEmpty && found[place].null >= 0 ? .null(found[place].null) : .absent
        case .parent(let steps, let list):
            return around.parent < 0 ? .absent : walk(tape, around.parent, steps, list, isOutside: true, &found)
        case .owner(let kinds):
            return kinds.contains(Int(around.parentPlan)) ? .value(Place.number(.owner, 0)) : .absent
        case .document(let index):
            guard index < values.places.count, let document = values.tape, values.places[index] >= 0 else {
                return .absent
            }
            let place = Place.number(.document, values.places[index])
            return document.kind(values.places[index]) == .null ? .null(place) : .value(place)
        case .position:
            return around.position < 0 ? .absent : .value(Place.number(.made, found.made.append(around.position)))
        case .relationship:
            guard around.relationship >= 0, around.parentPlan >= 0 else { return .absent }
            let name = plans[Int(around.parentPlan)].details[Int(around.relationship)].name
            return .value(Place.number(.made, found.made.append(name)))
        case .memberName:
            return around.name < 0
                ? .absent
                : values.name(around.name).withUnsafeBytes {
                    .value(Place.number(.made, found.made.append($0)))
                }
        case .url(let url, let variable, let kinds):
            for kind in kinds {
                guard case .value(let place) = resolve(kind, tape, plans, object, around, values, &found) else {
                    continue
                }
                let (source, index) = found.at(place, tape)
                guard source.kind(index) == .string, url.match(source.string(index)) == .matched else { continue }
                let value = url.value(variable)
                if !value.isEmpty { return .value(Place.number(.made, found.made.append(value))) }
            }
            return .absent
        case .text(let parts): return text(parts, tape, plans, object, around, values, &found)
        }
    }

    private static func walk(
        _ tape: Tape, _ start: Int, _ steps: [JSONPath.Step], _ list: ExtraSource.List, isOutside: Bool = false,
        takesNames: Bool = false, _ found: inout PlaceList
    ) -> Found {
        func place(_ index: Int) -> Int { isOutside ? PlaceList.Place.number(.outside, index) : index }
        var first = -1, null = -1
        let isList = list != .first && steps.contains(.each)
        var elements: [Int] = []
        let isThere = tape.forEach(at: steps[...], from: start) { index, name in
            if takesNames, name >= 0 { found.note(name: name, of: index) }
            if tape.kind(index) == .null {
                if null < 0 { null = index }
                if isList { elements.append(index) }
            } else {
                if first < 0 { first = index }
                if isList, list == .flat, tape.kind(index) == .array {
                    tape.forEachElement(index) { element in
                        if takesNames, name >= 0 { found.note(name: name, of: element) }
                        elements.append(element)
                    }
                } else if isList {
                    elements.append(index)
                }
            }
        }
        guard isThere else { return .absent }
        if first < 0, null >= 0 { return .null(place(null)) }
        guard isList else { return first < 0 ? .absent : .value(place(first)) }
        for element in elements { found.addElement(element) }
        return .value(PlaceList.Place.number(isOutside ? .outerList : .list, found.finishList()))
    }

    private static func text(
        _ parts: [ExtraSource.TextPart], _ tape: Tape, _ plans: [EntityPlan], _ object: Int, _ around: Surroundings,
        _ values: DocumentValues, _ found: inout PlaceList
    ) -> Found {
        var text = ByteWriter(capacity: 128), null = -1, isWhole = true
        for part in parts {
            switch part {
            case .literal(let literal): text.append(literal)
            case .value(let kind):
                switch resolve(kind, tape, plans, object, around, values, &found) {
                case .absent: isWhole = false
                case .null(let place): null = place
                case .value(let place):
                    let (source, index) = found.at(place, tape)
                    switch source.kind(index) {
                    case .object, .array, .null, nil: isWhole = false
                    case .string: text.append(source.string(index))
                    default: source.appendText(index, to: &text)
                    }
                }
            }
        }
        if null >= 0 { return .null(null) }
        return isWhole ? .value(PlaceList.Place.number(.made, found.made.append(text.bytes))) : .absent
    }
}

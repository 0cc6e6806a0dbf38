// The diagnostics of drafts, with their paths in the response.

internal import TarnStore

extension Drafter {
    /// Returns the path of a value, without a scan of earlier records.
    ///
    /// A value outside of the document has the path of its record.
    mutating func path(_ tape: Tape, _ index: Int) -> String {
        if let main, tape.words.baseAddress != main.words.baseAddress { return path(main, current) }
        let record = origin.position < 0 ? origin.list : "\(origin.list)[\(origin.position)]"
        guard pathBudget > 0 else { return record + "…" }
        pathBudget -= index - origin.place
        return tape.path(to: index, from: origin.place, record)
    }

    var keyText: String? { RecordKey(storageKey: key.bytes)?.description }

    mutating func reportKeyless(_ tape: Tape, _ index: Int, _ plan: EntityPlan, ownerField: UInt16?) {
        let missing =
            plan.keySlots.first { found[$0].value < 0 && plan.slots[$0].field != ownerField } ?? plan.keySlots.first
        let field = missing.map { plan.details[$0].name }
        let key = plan.keySlots.map { plan.details[$0].name }.joined(separator: ", ")
        report(
            .keyMissing, tape, index, plan, nil, field,
            "no usable key (\(key))\(urlHint(plan, found)); the record is skipped")
    }

    mutating func reportRelationship(_ tape: Tape, _ index: Int, _ position: Int, _ plan: EntityPlan) {
        report(
            .relationshipType, tape, index, plan, keyText, plan.details[position].name,
            "expected a record\(kindOfKey(tape, index, position, plan)), found \(tape.describe(index)); the stored value is kept"
        )
    }

    /// The rest of "expected a record or a key": with the URLs of the target, if the value may be
    /// one.
    private func kindOfKey(_ tape: Tape, _ index: Int, _ position: Int, _ own: EntityPlan) -> String {
        let destination: Int
        switch own.slots[position].kind {
        case .attribute: return " or a key"
        case .toOne(let plan), .toMany(let plan): destination = plan
        case .derived(let derived): destination = Int(derived.owner)
        }
        guard tape.kind(index) == .string,
            let url = own.url(ofReference: position) ?? plan.plans[destination].url
        else { return " or a key" }
        return ", a key or a URL \(url.templates)"
    }

    /// A hint that the URL of a record without a key matches no template.
    ///
    /// - Parameter found: the places of the record's slots.
    func urlHint(_ plan: EntityPlan, _ found: borrowing PlaceList) -> String {
        guard let url = plan.url else { return "" }
        let hasURL = plan.extras.contains { extra in
            guard extra.isKey, case .url(_, _, let kinds) = extra.kind else { return false }
            return kinds.contains { if case .place(let place, _, _) = $0 { found[place].value >= 0 } else { false } }
        }
        return hasURL ? ", and its URL is none of the API's \(url.templates)" : ""
    }

    /// The way out if a text, or one in a list, is none of the values of an enum; otherwise empty.
    static func enumHint(_ tape: Tape, _ index: Int, _ rule: ValueRule) -> String {
        guard !rule.hasTransformers else { return "" }
        switch (rule.type, tape.kind(index)) {
        case (.enumeration, .string):
            return ", which is none of its values: add it to them, or declare a fallback"
        case (.array(.enumeration(let values)), .array):
            var element = index + 1
            while element < tape.end(index) {
                if tape.kind(element) == .string,
                    !values.contains(where: { $0.utf8.elementsEqual(tape.string(element)) })
                {
                    return " with \(tape.describe(element)), which is none of its values: add it to them"
                }
                element = tape.next(element)
            }
            return ""
        default: return ""
        }
    }

    mutating func report(
        _ code: Diagnostic.Code, _ tape: Tape, _ index: Int, _ plan: EntityPlan, _ key: String?, _ field: String?,
        _ message: String
    ) {
        if code == .keyMissing, plan.policies.failsKeyless, failure == nil {
            let components = plan.keySlots.map { plan.details[$0].name }.joined(separator: ", ")
            failure = .recordWithoutKey(entity: plan.entity.name, path: path(tape, index), key: components)
        }
        if code == .keyMissing || code == .hookInvalid || code == .entityUnknown {
            skipped += 1
            skippedByEntity[plan.entity.name, default: 0] += 1
        }
        // Finding the path scans the document: not for every diagnostic of a group.
        guard diagnostics.keepsNext(code, plan.entity.name, field) else { return }
        var diagnostic = Diagnostic(
            code: code, path: path(tape, index), entity: plan.entity.name, key: key, field: field, message: message)
        diagnostic.sample = tape.sample(index)
        diagnostic.source = source
        diagnostics.add(diagnostic)
    }

    /// Returns the plan by which an object is drafted: the most specific one that the rules choose.
    ///
    /// A deleted record need not have a kind.
    func chosen(_ plan: Int, _ tape: Tape, _ object: Int) -> ChosenKind {
        var plan = plan, isExact = false
        while let choice = self.plan.plans[plan].choice {
            switch choice.choose(tape, object) {
            case .plan(let next):
                isExact = true
                if next == plan { return .plan(plan, isExact: true) }
                plan = next
            case .itself: return .plan(plan, isExact: false)
            case .none(let reason):
                let policies = self.plan.plans[plan].policies
                guard policies.hasTombstone, policies.tombstone?.matches(tape, object) == true else {
                    return .none(reason: reason)
                }
                return .plan(plan, isExact: false)
            }
        }
        return .plan(plan, isExact: isExact)
    }

    mutating func reportUnknown(_ tape: Tape, _ index: Int, _ plan: EntityPlan, _ reason: String?) {
        let reason = reason ?? "no rule determines the kind of this \(plan.entity.name)"
        report(.entityUnknown, tape, index, plan, nil, nil, "\(reason); it is skipped")
    }

    /// Skips an element that a hook made invalid or too deep.
    mutating func reportInvalid(_ tape: Tape, _ index: Int, _ position: Int) {
        report(
            .hookInvalid, tape, index, plan.plans[position], nil, nil,
            "a hook returned invalid or too deeply nested JSON; it is skipped")
    }
}

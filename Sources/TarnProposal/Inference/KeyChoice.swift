// The choice of keys: by the names of fields, confirmed or refuted by the samples.

import Tarn

/// Chooses the fields that identify the objects of a shape.
struct KeyChoice {
    let shape: ObjectShape
    /// The words of the object's name in the singular, such as `order`, `line`.
    private let name: [String]
    /// The samples without those that are equal to another one.
    let distinct: [JSONValue]

    /// The maximum number of samples that are compared.
    private static let comparisonLimit = 5000
    static let certainNames: Set = ["id", "uuid", "guid", "pk", "oid", "gid"]
    /// Names of keys, the best first.
    private static let likelyNames = [
        "key", "slug", "sha", "hash", "code", "isbn", "sku", "symbol", "iso", "number", "iid", "login", "username",
        "handle", "email", "name", "url", "self", "href", "uri", "title", "label",
    ]
    /// Names that may be equal, or change: without a sample they are no keys.
    private static let vagueNames: Set = ["username", "email", "name", "url", "title", "label"]
    /// Names of fields that are parts of keys.
    private static let partNames: Set = [
        "number", "position", "index", "code", "type", "name", "date", "day", "year", "month", "version", "language",
        "lang", "locale", "currency", "line", "seq", "sequence", "rank", "role", "region", "country", "sku", "symbol",
    ]
    /// Names of quantities and remarks: they differ by chance, and change.
    private static let valueNames: Set = [
        "amount", "balance", "body", "caption", "comment", "content", "cost", "count", "description", "distance",
        "duration", "height", "length", "level", "memo", "message", "note", "notes", "percentage", "points", "price",
        "quantity", "qty", "rating", "remark", "score", "size", "sum", "summary", "temperature", "text", "total",
        "value", "weight", "width", "cases", "clicks", "deaths", "downloads", "entries", "humidity", "impressions",
        "percent", "population", "pressure", "sales", "speed", "views", "visits", "volume",
    ]
    /// Names of places in a list: they change if the server inserts records.
    private static let positionNames: Set = ["position", "rank"]

    init(_ shape: ObjectShape, name: String) {
        self.shape = shape
        self.name = EnglishName.singularWords(of: name)
        var seen: Set<JSONValue> = []
        distinct = shape.samples.prefix(KeyChoice.comparisonLimit).filter { seen.insert($0).inserted }
    }

    // MARK: Nested objects

    /// Returns the key of nested objects; nil if they are parts of the enclosing record.
    ///
    /// - Parameter lists: the lists, whose records the objects may be.
    func nested(_ lists: [Place]) -> KeyGuess? {
        let ids = shape.names.filter { isCertain($0) || EnglishName.words(of: $0) == ["sha"] }
        return ids.min { rank($0) < rank($1) }.flatMap { shared($0, lists) }
    }

    /// Returns the key that another entity has, if these objects have it too.
    func shared(_ field: String, _ lists: [Place]) -> KeyGuess? {
        guard shape.fields[field] != nil, isUsable(field), isConsistent([field], lists) else { return nil }
        return KeyGuess(fields: [field], reason: "", isCertain: true)
    }

    // MARK: Listed objects

    /// Returns the key of listed objects.
    ///
    /// - Parameter named: fields by which paths of a specification name a record.
    func listed(named: [String] = []) -> KeyGuess {
        if let guess = byMemberName(named) { return guess }
        let ids = shape.names.filter { isCertain($0) && isUsable($0, isNullable: true) }
        let certain = ids.sorted { rank($0) < rank($1) }.filter {
            isConsistent([$0], isListed: true) && !isRepeated([$0])
        }
        if let best = certain.first {
            return KeyGuess(
                fields: [best], reason: "", isCertain: true, alternatives: Array(certain.dropFirst().prefix(2)))
        }
        guard let id = ids.first else { return unnamed(named) }
        return beside(id, ids, named)
    }

    /// Returns the key of listed objects whose ids name several of them.
    ///
    /// - Parameter id: the first of the ids.
    private func beside(_ id: String, _ ids: [String], _ named: [String]) -> KeyGuess {
        let name = YAMLText.comment(id, limit: 40), repeated = "`\(name)` is not unique"
        let consistency = KeyConsistency(
            groups([id]).values, except: [id], comparesAll: isOftenRepeated(answers([id]), [id]))
        let fields = consistency.differing.prefix(3).map { "`\(YAMLText.comment($0, limit: 40))`" }
        let values = fields.isEmpty ? "" : " (\(fields.joined(separator: ", ")))"
        let doubt =
            "`\(name)` names samples with different values\(values): if these are one record that changes, write `key: \(EnglishName.field(id))`"
        if let pair = composite(with: Set(ids)) {
            return KeyGuess(
                fields: pair, reason: "\(repeated), these together differ in all \(distinct.count) samples",
                isCertain: false, doubt: consistency.conflicts * 2 < consistency.keyCount ? doubt : nil)
        }
        let best = ids.first { isConsistent([$0], isListed: true) && !isOftenRepeated(answers([$0]), [$0]) }
        if let best {
            return KeyGuess(fields: [best], reason: repeated, isCertain: false)
        }
        var guess = unnamed(named, repeated: repeated)
        guess.doubt = doubt
        if !guess.alternatives.contains(id) { guess.alternatives.insert(id, at: 0) }
        return guess
    }

    /// Returns the key of listed objects without an id.
    ///
    /// - Parameter repeated: the reason why an id is no key.
    func unnamed(_ named: [String], repeated: String? = nil) -> KeyGuess {
        let usable = shape.names.filter { field in
            // The name of a list is that of all its records.
            field != RecordMap.nameField && isUsable(field) && isUnique([field])
        }
        var likely = usable.filter { likelihood($0) != nil }.sorted {
            (likelihood($0) ?? 0) < (likelihood($1) ?? 0)
        }
        // The only id of an object names it better than what a person may change, unless it is that
        // of another object.
        if let id = onlyID(usable) {
            likely.removeAll { $0 == id }
            let url = likely.firstIndex { EnglishName.words(of: $0).last == "url" }
            likely.insert(id, at: url.map { $0 + 1 } ?? likely.firstIndex(where: isVague) ?? likely.count)
        }
        let vague = distinct.isEmpty ? likely.filter(isVague) : []
        likely.removeAll { vague.contains($0) }
        let short = usable.filter { likelihood($0) == nil && isShort($0) }
        let (others, values) = divided(short, mayBeComposite: repeated == nil)
        // Beside an `id` that is not unique, a field of another name is a position or a counter.
        if let best = likely.first ?? (distinct.count >= 5 && repeated == nil ? others.first : nil) {
            let rest = (likely + vague + (distinct.isEmpty ? [] : others)).filter { $0 != best }
            let reason = distinct.isEmpty ? "by its name" : "different in all \(distinct.count) samples"
            return KeyGuess(
                fields: [best], reason: reason, isCertain: false, doubt: weakness(of: best),
                alternatives: Array(rest.prefix(3)))
        }
        if let time = timeOfTable() {
            return KeyGuess(
                fields: [time], reason: "ascending in all \(distinct.count) samples", isCertain: false,
                doubt: weakness(of: time, isLastResort: true))
        }
        // A value that differs in all samples shows that no record was listed again.
        if repeated == nil, values.isEmpty, let moved = listedAgain() {
            return KeyGuess(
                fields: [moved], reason: "different within each answer, which repeat some records", isCertain: false)
        }
        if let fields = composite(hasPositions: repeated == nil) {
            return KeyGuess(
                fields: fields, reason: "no single field differs in all \(distinct.count) samples, these together do",
                isCertain: false, doubt: weakness(of: fields))
        }
        guard let named = vague.first(where: { named.contains($0) }) else {
            var guess = KeyGuess(
                fields: [], reason: repeated ?? "no field \(vague.isEmpty ? "" : "surely ")identifies a record",
                isCertain: false, alternatives: Array(vague.prefix(3)))
            if repeated == nil, distinct.count >= 5, let value = values.first {
                guess.lastResort = KeyGuess.LastResort(
                    field: value, reason: "different in all \(distinct.count) samples",
                    doubt: weakness(of: value, isLastResort: true))
                guess.alternatives = Array(values.prefix(4))
            }
            return guess
        }
        return KeyGuess(
            fields: [named], reason: "a path of the specification names a record by it", isCertain: false,
            alternatives: Array(vague.filter { $0 != named }.prefix(3)))
    }

    /// The number of samples that confirm an id whose name is not that of the object.
    private static let confirmingCount = 20

    /// Returns the field whose name ends with `id`, if it is the only one and many samples differ.
    private func onlyID(_ usable: [String]) -> String? {
        let ids = shape.names.filter { EnglishName.words(of: $0).last == "id" }
        guard ids.count == 1, distinct.count >= KeyChoice.confirmingCount, usable.contains(ids[0]) else { return nil }
        return ids[0]
    }

    /// Names of fields that several records may share by chance.
    private static let sharedNames: Set = ["name", "title", "label"]

    /// Returns the reason why a field may repeat in records that are no samples; nil if its name is
    /// that of a key, or enough samples differ. A person or an owner may have many records.
    private func weakness(of field: String, isLastResort: Bool = false) -> String? {
        guard distinct.count > 1, let value = shape.fields[field]?.key else { return nil }
        let isNamed = likelihood(field) != nil
        let isShared = EnglishName.words(of: field).last.map(KeyChoice.sharedNames.contains) ?? false
        let isFew = distinct.count < 5 || shape.isPartial
        guard
            !isNamed && (isFew || value.scalars.integers > 0 || isQuantity(field)) || isShared && isFew || isLastResort
                || isOfOwner(field)
        else { return nil }
        let name = YAMLText.comment(field, limit: 40)
        return
            "`\(name)` differs in \(distinct.count) samples, and others may share it: the store has one record for them"
    }

    /// Returns the reason why fields may repeat together in records that are no samples; nil if
    /// enough samples differ, all names are those of parts of keys, and none that of an owner.
    private func weakness(of fields: [String]) -> String? {
        let isByDimension = fields.contains {
            !KeyChoice.isPart($0) && !KeyChoice.isTime($0) && !KeyChoice.isPosition($0)
        }
        guard distinct.count < 5 || shape.isPartial || isByDimension || fields.contains(where: isOfOwner) else {
            return nil
        }
        let names = fields.map { "`\(YAMLText.comment($0, limit: 40))`" }.joined(separator: " and ")
        return
            "\(names) together differ in \(distinct.count) samples, and others may share them: the store has one record for them"
    }

    /// Whether a field is the id of a person or an owner beside the record, such as `author_id`.
    private func isOfOwner(_ field: String) -> Bool {
        var words = EnglishName.words(of: field)
        guard !isCertain(field), words.popLast().map(KeyChoice.certainNames.contains) ?? false else { return false }
        return !FieldBuilder.sharedWords.isDisjoint(with: words)
    }

    /// The number of fields whose repeated values are compared: each takes a pass over all samples.
    private static let mostCompared = 8

    /// Returns the field that differs within each answer, if answers repeat a few records with
    /// other numbers, such as a score: a live list moves between two requests.
    private func listedAgain() -> String? {
        guard shape.starts.count > 1, distinct.count >= 10 else { return nil }
        let texts = shape.names.filter { field in
            isUsable(field) && isShort(field) && shape.fields[field]?.key.scalars.integers == 0
        }
        let named = texts.filter { likelihood($0) != nil }.sorted { (likelihood($0) ?? 0) < (likelihood($1) ?? 0) }
        return (named + texts.filter { likelihood($0) == nil }).prefix(KeyChoice.mostCompared).first { field in
            guard answers([field]).values.allSatisfy({ $0.count == 1 }) else { return false }
            let consistency = KeyConsistency(groups([field]).values, except: [field])
            return consistency.conflicts == 0 || isChanged(consistency)
        }
    }

    private func isVague(_ field: String) -> Bool {
        EnglishName.words(of: field).last.map { KeyChoice.vagueNames.contains($0) } ?? false
    }

    /// Returns two or three fields that together differ in all samples.
    ///
    /// - Parameters:
    ///   - ids: fields of which one must be among two, also beside a time; empty for any two or
    ///     three fields.
    ///   - hasPositions: whether a place in the list may be one of them.
    func composite(with ids: Set<String> = [], hasPositions: Bool = false) -> [String]? {
        guard distinct.count >= 2 else { return nil }
        let parts = shape.names.filter { field in
            isUsable(field)
                && (KeyChoice.isPart(field)
                    || hasPositions && KeyChoice.isPosition(field) && (distinct.count < 5 || !isUnique([field])))
        }
        let times = ids.isEmpty ? [] : shape.names.filter { isUsable($0) && KeyChoice.isTime($0) }
        let fields = Array((parts + times).prefix(10))
        for (index, first) in fields.enumerated() {
            for second in fields[(index + 1)...] where isUnique([first, second]) {
                if ids.isEmpty || ids.contains(first) || ids.contains(second) { return [first, second] }
            }
        }
        guard ids.isEmpty else { return nil }
        for (index, first) in fields.enumerated() {
            for (offset, second) in fields.enumerated() where offset > index {
                for third in fields[(offset + 1)...] where isUnique([first, second, third]) {
                    return [first, second, third]
                }
            }
        }
        return dimensionAndDate()
    }

    // MARK: Fields

    /// Whether a name is that of a key: `id`, `_id`, `uuid`, `objectID`, or the object's own name
    /// with `id`. Beside an `objectType`, the `objectId` is that of another object.
    func isCertain(_ field: String) -> Bool {
        let words = EnglishName.words(of: field)
        guard let last = words.last else { return false }
        // That of Kubernetes; a number may be the one of a user.
        if words == ["uid"] { return shape.fields[field]?.scalars.forms?.contains(.uuid) ?? false }
        guard KeyChoice.certainNames.contains(last) else { return words.count == 1 && isOwnName(last) }
        return words.count == 1 || Array(words.dropLast()) == name || words.dropLast().last == name.last
            || words == ["object", "id"] && !shape.names.contains { EnglishName.words(of: $0) == ["object", "type"] }
    }

    /// Whether one word is the object's own name with `id`: `pageid` of pages, `orderid`.
    private func isOwnName(_ word: String) -> Bool {
        guard word.hasSuffix("id"), word.count > 4 else { return false }
        let stem = String(word.dropLast(2))
        return stem == "object" || name.joined() == stem || name.last?.hasSuffix(stem) == true
    }

    /// Whether a name is that of a part of a key, such as a date.
    static func isPart(_ field: String) -> Bool {
        guard let last = EnglishName.words(of: field).last, !positionNames.contains(last) else { return false }
        return certainNames.contains(last) || partNames.contains(last)
    }

    /// Whether a name is that of a time, such as `measured_at`, at which the record does not
    /// change.
    private static func isTime(_ field: String) -> Bool {
        guard let last = EnglishName.words(of: field).last else { return false }
        return ["at", "time", "timestamp"].contains(last) && !VolatileNames.isVolatile(field)
    }

    static func isValue(_ field: String) -> Bool {
        isPosition(field) || EnglishName.words(of: field).last.map(valueNames.contains) ?? false
    }

    private static func isPosition(_ field: String) -> Bool {
        EnglishName.words(of: field).last.map(positionNames.contains) ?? false
    }

    private func rank(_ field: String) -> Int {
        let words = EnglishName.words(of: field)
        return (words == ["id"] ? 0 : words.count == 1 ? 1 : 2)
    }

    private func likelihood(_ field: String) -> Int? {
        let words = EnglishName.words(of: field)
        guard let last = words.last, words.count == 1 || Array(words.dropLast()) == name else { return nil }
        return KeyChoice.likelyNames.firstIndex(of: last)
    }

    /// Whether the value of a field may be a key: an integer or a text in every object.
    ///
    /// - Parameter isNullable: whether a specification may declare it as nullable. The records that
    ///   servers return have their key.
    func isUsable(_ field: String, isNullable: Bool = false) -> Bool {
        guard let value = shape.fields[field]?.key, value.isScalar else { return false }
        guard value.count > 0 else {
            guard let declared = value.declared else { return false }
            // Many generators declare integers as `number`.
            let isNumber = declared.types.contains("number")
            let isInteger = isCertain(field) && !["float", "double", "decimal"].contains(declared.format)
            return (isNullable || !declared.isNullable) && (!isNumber || isInteger)
        }
        let facts = value.scalars
        return value.count == shape.count && value.nulls == 0 && facts.fractions == 0 && facts.emptyTexts == 0
            && facts.longestText <= 500 && (facts.hugeIntegers == 0 || FieldNames.canBeComposed(field))
    }

    /// Whether the values are short and no dates.
    private func isShort(_ field: String) -> Bool {
        guard let facts = shape.fields[field]?.key.scalars else { return false }
        let forms = facts.forms ?? []
        return facts.longestText <= 100 && !forms.contains { $0.dateFormat != nil }
    }

    private func value(_ fields: [String], _ sample: JSONValue) -> [ExactText] {
        fields.map { ExactText(sample[$0]?.keyText ?? "") }
    }

    /// Whether fields together differ in all samples.
    func isUnique(_ fields: [String]) -> Bool {
        guard !distinct.isEmpty else { return shape.samples.isEmpty }
        var seen: Set<[ExactText]> = []
        return distinct.allSatisfy { seen.insert(value(fields, $0)).inserted }
    }

    /// Whether samples with equal values are the same object: most of their other scalars agree,
    /// and no field differs for most of the values.
    ///
    /// - Parameters:
    ///   - lists: the lists, whose records nested objects may be.
    ///   - isListed: whether an endpoint lists the samples.
    func isConsistent(_ fields: [String], _ lists: [Place] = [], isListed: Bool = false) -> Bool {
        var groups: [[ExactText]: [JSONValue]] = [:], compared = 0, agreeing = 0
        var volatile = VolatileNames()
        for sample in distinct {
            let key = value(fields, sample)
            if let other = groups[key]?[0] {
                let ignored = volatile.names(in: sample).union(fields)
                var agreement = JSONValue.agreement(sample, other, except: ignored)
                // Nothing else tells whether it is the same record.
                if agreement.compared == 0 {
                    agreement = JSONValue.agreement(sample, other, except: Set(fields))
                }
                compared += agreement.compared
                agreeing += agreement.agreeing
            }
            groups[key, default: []].append(sample)
        }
        let consistency = KeyConsistency(groups.values, except: Set(fields))
        let against = consistency.contradicting
        if isListed, !against.isEmpty, isChanged(consistency) { return true }
        if isListed && isOther(consistency) || consistency.isRefuted() || consistency.isEntered {
            return lists.contains { isExcerpt(of: $0, fields, groups, against) }
        }
        return compared == 0 ? groups.count == distinct.count || groups.count > 1 : agreeing * 10 >= compared * 6
    }

    /// Whether a date, or another part of a key, differs for many keys: whatever agrees, it belongs
    /// to the key.
    private func isOther(_ consistency: KeyConsistency) -> Bool {
        consistency.conflicts >= 3 && consistency.conflicts * 4 >= consistency.keyCount
            && consistency.contradicting.contains(where: KeyChoice.isPart)
    }

    /// Whether listed objects that share a key are records that change from one answer to the next:
    /// few differ at all, or only their numbers do, such as a score; and more confirms the key.
    ///
    /// - Parameter isOneAnswer: whether the objects were in one answer.
    private func isChanged(_ consistency: KeyConsistency, isOneAnswer: Bool = false) -> Bool {
        let against = consistency.contradicting
        guard !consistency.isEntered, !against.contains(where: KeyChoice.isPart),
            consistency.hasFewConflicts || !isOneAnswer && consistency.areNumbersOnly
        else { return false }
        // A record that is listed twice has two places in the list.
        let weight = against.count { !KeyChoice.isPosition($0) }
        return consistency.confirming >= max(isOneAnswer ? weight + 1 : weight, 1)
    }

    /// Returns the samples without equal ones by their values of fields.
    private func groups(_ fields: [String]) -> [[ExactText]: [JSONValue]] {
        Dictionary(grouping: distinct) { value(fields, $0) }
    }

    /// Whether the objects are excerpts of listed records, beside fields that belong to the place.
    private func isExcerpt(
        of list: Place, _ fields: [String], _ groups: [[ExactText]: [JSONValue]], _ local: [String]
    ) -> Bool {
        guard list.key.fields == fields, local.allSatisfy({ list.shape.fields[$0] == nil }) else { return false }
        let common = shape.names.filter { list.shape.fields[$0] != nil && !fields.contains($0) }
        guard !common.allSatisfy({ ClusterFinder.common.contains($0.lowercased()) }) else { return false }
        let known = groups.compactMap { key, objects in list.objects[key[0]].map { [objects[0], $0] } }
        let consistency = KeyConsistency(known, except: Set(fields + local))
        return !consistency.isRefuted() && consistency.confirming > 0
    }

    /// Whether the URLs of listed objects name one record each, by the rules for an `id`.
    func isNamed(by form: URLForm) -> Bool {
        func url(_ sample: JSONValue) -> [ExactText] { [ExactText(sample.value(at: form.field)?.scalarText ?? "")] }
        let fields = Array(form.field.prefix(1))
        let consistency = KeyConsistency(Dictionary(grouping: distinct, by: url).values, except: Set(fields))
        let isRefuted = isOther(consistency) || consistency.isRefuted() || consistency.isEntered
        if isRefuted, !isChanged(consistency) { return false }
        return !isOftenRepeated(answers(by: url), fields)
    }

    /// Returns the samples of each answer by their values of fields.
    private func answers(_ fields: [String]) -> [[ExactText]: [JSONValue]] { answers { value(fields, $0) } }

    private func answers(by value: (JSONValue) -> [ExactText]) -> [[ExactText]: [JSONValue]] {
        var groups: [[ExactText]: [JSONValue]] = [:], starts = shape.starts[...], answer = 0
        for (index, sample) in shape.samples.prefix(KeyChoice.comparisonLimit).enumerated() {
            while let start = starts.first, start <= index {
                answer += 1
                starts = starts.dropFirst()
            }
            groups[value(sample) + [ExactText("\(answer)")], default: []].append(sample)
        }
        return groups
    }

    /// Whether one answer lists a value twice, for records that differ.
    func isRepeated(_ fields: [String]) -> Bool {
        let groups = answers(fields)
        // A record may be there twice, with other counters.
        let consistency = KeyConsistency(groups.values, except: Set(fields))
        if consistency.conflicts > 0, !isChanged(consistency, isOneAnswer: true) { return true }
        return isOftenRepeated(groups, fields)
    }

    /// Whether single answers list more than a tenth of the values several times, for records that
    /// differ in anything: so many are no records that change while the answer is written.
    private func isOftenRepeated(_ groups: [[ExactText]: [JSONValue]], _ fields: [String]) -> Bool {
        let consistency = KeyConsistency(groups.values, except: Set(fields), comparesAll: true)
        return consistency.conflicts > 1 && consistency.conflicts * 10 > consistency.keyCount
    }
}

extension JSONValue {
    /// Compares the scalars that two objects have in common.
    static func agreement(
        _ a: JSONValue, _ b: JSONValue, except: Set<String>
    ) -> (compared: Int, agreeing: Int) {
        guard case .object(let members) = a else { return (0, 0) }
        var compared = 0, agreeing = 0
        for member in members where !except.contains(member.key) {
            guard let other = b[member.key] else { continue }
            switch (member.value, other) {
            case (.object, _), (.array, _), (_, .object), (_, .array): continue
            case (.null, .null): continue
            default:
                compared += 1
                if member.value == other { agreeing += 1 }
            }
        }
        return (compared, agreeing)
    }
}

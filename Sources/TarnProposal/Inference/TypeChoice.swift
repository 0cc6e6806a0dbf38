// The choice of an attribute's type from the values of the samples, or from a specification.

/// The type of an attribute, and the explanation of the guess.
struct TypeChoice {
    var type: String
    var values: [String] = []
    var format: String?
    var epoch: String?
    var comment = ""
    var alternative: (definition: String, reason: String)?
    /// Whether only null was seen, so that the attribute must be optional.
    var isAlwaysNull = false

    init(_ type: String, comment: String = "") {
        self.type = type
        self.comment = comment
    }

    /// Chooses the type of the values of a key.
    init(of value: ValueShape, name: String) {
        if value.count == value.nulls {
            if let declared = value.declared {
                self = TypeChoice.declared(declared, value, name: name)
            } else {
                self = TypeChoice.unknown(name)
                isAlwaysNull = true
            }
        } else {
            self = TypeChoice.seen(value, name: name)
            if type == "string", let declared = value.declared, !declared.values.isEmpty { enumerate(declared, value) }
        }
    }

    /// Takes the values that a specification lists, if they cover those of the samples.
    private mutating func enumerate(_ declared: DeclaredFacts, _ value: ValueShape) {
        let known = Set(declared.values)
        let others = value.scalars.counts.keys.filter { !known.contains($0) }
        guard others.isEmpty, !value.scalars.isOverflowing else {
            comment = "the specification lists \(declared.values.count) values, the samples have others"
            return
        }
        self = TypeChoice("enum")
        values = declared.values
    }

    // MARK: Samples

    private static func seen(_ value: ValueShape, name: String) -> TypeChoice {
        let facts = value.scalars
        if value.isTooDeep { return TypeChoice("json", comment: "nested very deep: kept as it is") }
        let kinds = [value.booleans > 0, facts.numbers > 0, facts.texts > 0, value.objects > 0, value.lists > 0]
        guard kinds.count(where: { $0 }) == 1 else {
            if kinds[1], kinds[2], !kinds[0], !kinds[3], !kinds[4] {
                return TypeChoice("string", comment: "a number in some samples, text in others")
            }
            return TypeChoice("json", comment: "of several types in the samples: kept as it is")
        }
        if value.booleans > 0 { return TypeChoice("bool") }
        if facts.numbers > 0 { return number(facts, name: name) }
        if facts.texts > 0 { return text(value, name: name) }
        if value.objects > 0 { return object(value) }
        return list(value, name: name)
    }

    private static func number(_ facts: ScalarFacts, name: String) -> TypeChoice {
        if facts.fractions > 0 {
            if facts.longFractions > 0 || facts.hugeIntegers > 0 {
                return TypeChoice("decimal", comment: "more digits than a double keeps")
            }
            var choice = TypeChoice("double")
            let words = EnglishName.words(of: name)
            if let last = words.last, ["price", "amount", "total", "cost", "fee", "balance", "tax"].contains(last) {
                choice = TypeChoice("decimal", comment: "looks like money: decimal is exact")
            }
            return choice
        }
        if facts.hugeIntegers > 0 { return TypeChoice("decimal", comment: "integers beyond 64 bits") }
        if facts.unsigned > 0 {
            return facts.integers > 0 && facts.smallest < 0
                ? TypeChoice("decimal", comment: "integers beyond 64 bits") : TypeChoice("uint")
        }
        guard let unit = epoch(facts, name: name) else { return TypeChoice("int") }
        var choice = TypeChoice("date", comment: "the number looks like a time")
        choice.epoch = unit
        choice.alternative = ("int", "if it is no time")
        return choice
    }

    /// The unit of numbers that look like times, by name and size: from 2001 to 2100.
    private static func epoch(_ facts: ScalarFacts, name: String) -> String? {
        let words = EnglishName.words(of: name)
        let named: Set = [
            "at", "on", "date", "time", "timestamp", "ts", "seen", "since", "until", "expires", "updated",
        ]
        guard let last = words.last,
            named.contains(last) || ["created", "modified", "published"].contains(last) || words.contains("time")
                || words.contains("last")
        else { return nil }
        // Zero often means no time.
        guard facts.smallest > 0 else { return nil }
        switch (facts.smallest, facts.largest) {
        case (1_000_000_000..., ...4_102_444_800): return "seconds"
        case (1_000_000_000_000..., ...4_102_444_800_000): return "milliseconds"
        case (1_000_000_000_000_000..., ...4_102_444_800_000_000): return "microseconds"
        default: return nil
        }
    }

    private static func text(_ value: ValueShape, name: String) -> TypeChoice {
        let facts = value.scalars, forms = facts.forms ?? []
        for form in TextForm.allCases where forms.contains(form) {
            guard let format = form.dateFormat else { continue }
            var choice = TypeChoice("date")
            choice.format = form == .rfc3339 ? nil : format
            if form == .day { choice.comment = "a day without a time" }
            if form == .iso8601, facts.counts.keys.contains(where: lacksZone) {
                choice.comment = "without a time zone: taken for UTC"
            }
            return choice
        }
        if forms.contains(.uuid) { return TypeChoice("uuid") }
        if forms.contains(.url) { return TypeChoice("url") }
        if forms.contains(.number), !EnglishName.words(of: name).contains("id") {
            let words = EnglishName.words(of: name)
            let isMeasure = ["price", "amount", "total", "cost", "lat", "lng", "lon", "latitude", "longitude", "value"]
                .contains(words.last ?? "")
            if isMeasure, value.count >= 3 {
                var choice = TypeChoice("decimal", comment: "a number in quotes")
                choice.alternative = ("string", "to keep the text")
                return choice
            }
        }
        return enumeration(value, name: name) ?? TypeChoice("string")
    }

    /// Whether the time of a text such as `2026-11-21T02:19:00` has no offset.
    private static func lacksZone(_ text: String) -> Bool {
        !text.utf8.dropFirst(10).contains { [UInt8(ascii: "Z"), 0x7A, 0x2B, 0x2D].contains($0) }
    }

    private static let enumerable: Set = [
        "state", "status", "type", "kind", "role", "level", "visibility", "priority", "severity", "mode", "gender",
        "phase", "stage", "result", "reason", "association", "scope", "tier", "method",
    ]

    /// Returns an enum if few values cover many samples.
    ///
    /// By Good and Turing, values that occur once tell how many values were not seen: an enum is
    /// proposed only if each of its values occurred several times.
    private static func enumeration(_ value: ValueShape, name: String) -> TypeChoice? {
        let facts = value.scalars, counts = facts.counts
        guard !facts.isOverflowing, facts.emptyTexts == 0, (2...10).contains(counts.count), facts.longestText <= 40
        else { return nil }
        guard counts.keys.allSatisfy({ text in text.utf8.allSatisfy { (0x21...0x7E).contains($0) } }) else {
            return nil
        }
        let isNamed = EnglishName.words(of: name).last.map { enumerable.contains($0) } ?? false
        let values = counts.keys.sorted(), rarest = counts.values.min() ?? 0
        let definition = "{ type: enum, values: \(YAMLText.list(values)) }"
        guard isNamed, facts.texts >= 30, facts.texts >= counts.count * 10, rarest >= 3 else {
            guard isNamed || facts.texts >= counts.count * 20, facts.texts >= 10 else { return nil }
            var choice = TypeChoice("string")
            choice.alternative = (
                definition, "\(counts.count) values in \(facts.texts) samples: too few samples to exclude others"
            )
            if !isNamed { choice.alternative = nil }
            return choice
        }
        var choice = TypeChoice(
            "enum",
            comment:
                "the only values in \(facts.texts) samples; another one is reported and left out, string accepts it")
        choice.values = values
        return choice
    }

    private static func object(_ value: ValueShape) -> TypeChoice {
        guard let object = value.object, !object.names.isEmpty else {
            return TypeChoice("json", comment: "an empty object in every sample")
        }
        if object.isMap { return TypeChoice("json", comment: "an object whose keys are data") }
        return TypeChoice("json", comment: "an object without a key of its own")
    }

    private static func list(_ value: ValueShape, name: String) -> TypeChoice {
        guard let element = value.element else {
            return TypeChoice("json", comment: "an empty list in every sample")
        }
        guard element.nulls == 0, element.objects == 0, element.lists == 0 else {
            return TypeChoice(
                "json",
                comment: element.objects > 0 ? element.object?.keyProblem ?? "objects without a key" : "kept as it is")
        }
        let inner = TypeChoice.seen(element, name: "")
        guard ["bool", "int", "uint", "double", "string", "uuid", "url"].contains(inner.type) else {
            return TypeChoice(
                inner.type == "json" || inner.type == "decimal" || inner.type == "date" ? "json" : "[string]")
        }
        return TypeChoice("[\(inner.type)]")
    }

    // MARK: No values

    /// Returns the type that a name suggests, for values that are always null.
    private static func unknown(_ name: String) -> TypeChoice {
        let words = EnglishName.words(of: name)
        let comment = "always null: a guess from the name"
        switch words.last ?? "" {
        case "at", "date", "time",
            "on" where words.count > 1:
            return TypeChoice("date", comment: comment)
        case "url", "uri", "href", "link": return TypeChoice("url", comment: comment)
        case "count", "total": return TypeChoice("int", comment: comment)
        default:
            if let first = words.first, ["is", "has", "can"].contains(first), words.count > 1 {
                return TypeChoice("bool", comment: comment)
            }
            return TypeChoice("json", comment: "always null: state the type when it is known")
        }
    }

    // MARK: Specifications

    private static func declared(_ declared: DeclaredFacts, _ value: ValueShape, name: String) -> TypeChoice {
        guard declared.types.count == 1, let type = declared.types.first else {
            if declared.types == ["integer", "number"] { return TypeChoice("double") }
            return TypeChoice("json", comment: declared.types.isEmpty ? "of any type" : "of several types")
        }
        switch type {
        case "boolean": return TypeChoice("bool")
        case "integer":
            var choice = TypeChoice(declared.format == "uint64" ? "uint" : "int")
            if declared.format == "unix-time" || declared.format == "timestamp" {
                choice = TypeChoice("date")
                choice.epoch = "seconds"
            }
            return choice
        case "number":
            return TypeChoice(["decimal", "money"].contains(declared.format ?? "") ? "decimal" : "double")
        case "string": return declaredText(declared)
        case "array":
            guard let element = value.element, let inner = element.declared, element.object == nil, !inner.isNullable
            else { return TypeChoice("json", comment: value.element?.object == nil ? "" : "objects without a key") }
            let choice = TypeChoice.declared(inner, element, name: "")
            switch choice.type {
            case "bool", "int", "uint", "double", "string", "uuid", "url": return TypeChoice("[\(choice.type)]")
            case "enum": return TypeChoice("[string]")
            default: return TypeChoice("json")
            }
        default: return TypeChoice("json", comment: "an object without a key of its own")
        }
    }

    private static func declaredText(_ declared: DeclaredFacts) -> TypeChoice {
        if !declared.values.isEmpty {
            var choice = TypeChoice("enum")
            choice.values = declared.values
            return choice
        }
        switch declared.format {
        case "date-time": return TypeChoice("date")
        case "date":
            var choice = TypeChoice("date")
            choice.format = "day"
            return choice
        case "uuid": return TypeChoice("uuid")
        case "uri", "url", "uri-reference": return TypeChoice("url")
        case "byte": return TypeChoice("bytes")
        case "decimal": return TypeChoice("decimal")
        default: return TypeChoice("string")
        }
    }
}

// The keys of tables: rows, or columns, with names.

import Tarn

extension KeyChoice {
    /// Names of the times by which tables of measurements have their rows.
    static let timeNames: Set = [
        "time", "date", "day", "timestamp", "datetime", "t", "ts", "month", "week", "year", "hour", "period",
    ]

    /// Returns a text that several records share and a date, which together differ in all samples:
    /// of several series in one list; nil for other records.
    func dimensionAndDate() -> [String]? {
        guard distinct.count >= 3 else { return nil }
        let dates = shape.names.filter { name in
            isUsable(name) && EnglishName.words(of: name).last.map(KeyChoice.timeNames.contains) ?? false
        }
        let texts = shape.names.filter { name in
            guard isUsable(name), !dates.contains(name), !KeyChoice.isValue(name), let value = shape.fields[name]
            else { return false }
            let facts = value.scalars
            return facts.texts == shape.count && facts.longestText <= 40 && facts.counts.count > 1
        }
        for date in dates.prefix(3) {
            for text in texts.prefix(6) where isUnique([text, date]) { return [text, date] }
        }
        return nil
    }

    /// Returns fields that differ in all samples: those that may be keys, and quantities.
    ///
    /// Numbers beside the time of a series are quantities, and so are numbers without an order if
    /// other fields are a key together.
    func divided(_ fields: [String], mayBeComposite: Bool) -> (others: [String], values: [String]) {
        let time = mayBeComposite ? timeOfTable() : nil
        var quantities: [String] = []
        if let time {
            quantities = fields.filter { $0 != time && numbers($0) != nil }
        } else if mayBeComposite {
            quantities = fields.filter(isQuantity)
            if !quantities.isEmpty, composite(hasPositions: true) == nil { quantities = [] }
        }
        func isValue(_ field: String) -> Bool { KeyChoice.isValue(field) || quantities.contains(field) }
        return (fields.filter { !isValue($0) }, fields.filter(isValue))
    }

    /// Whether a field whose name is not that of a key has numbers that neither rise nor fall.
    func isQuantity(_ field: String) -> Bool { numbers(field).map { !KeyChoice.isOrdered($0) } ?? false }

    /// Returns the numbers of a field whose name is not that of a key; nil for other fields.
    private func numbers(_ field: String) -> [Double]? {
        let isNamed = EnglishName.words(of: field).last?.hasSuffix("id") ?? false
        guard !isCertain(field), !KeyChoice.isPart(field), !isNamed else { return nil }
        let numbers = distinct.compactMap { $0[field]?.scalarText.flatMap { Double($0) } }
        return numbers.count == distinct.count ? numbers : nil
    }

    private static func isOrdered<T: Comparable>(_ values: [T]) -> Bool {
        let pairs = zip(values, values.dropFirst())
        return pairs.allSatisfy { $0 < $1 } || pairs.allSatisfy { $0 > $1 }
    }

    /// Returns the first column of a table, or the time of a series of measurements, if it is a
    /// time that ascends or descends from row to row; nil for other records. A position would be
    /// that of another time after the next change.
    func timeOfTable() -> String? {
        guard distinct.count >= 3, let time = shape.isTable ? shape.names.first : timeOfSeries(), isUsable(time),
            isUnique([time]), EnglishName.words(of: time).last.map(KeyChoice.timeNames.contains) ?? false
        else { return nil }
        let texts = distinct.compactMap { $0[time]?.scalarText }, numbers = texts.compactMap { Double($0) }
        let isOrdered =
            numbers.count == distinct.count ? KeyChoice.isOrdered(numbers) : KeyChoice.isOrdered(texts)
        return isOrdered ? time : nil
    }

    /// Returns the time of objects that have only numbers beside it, and what is the same in all of
    /// them; nil for other objects.
    private func timeOfSeries() -> String? {
        guard distinct.count >= 5,
            let time = shape.names.first(where: { name in
                let words = EnglishName.words(of: name)
                return words.count == 1 && KeyChoice.timeNames.contains(words[0])
            })
        else { return nil }
        var hasNumber = false
        for name in shape.names where name != time {
            let values = distinct.map { $0[name] ?? .null }
            guard Set(values).count > 1 else { continue }
            for value in values where value != .null {
                guard let text = value.scalarText else { return nil }
                // A sign such as `.` is a missing number.
                let isNumber = Double(text) != nil
                guard isNumber || text.count < 3 else { return nil }
                hasNumber = hasNumber || isNumber
            }
        }
        return hasNumber ? time : nil
    }
}

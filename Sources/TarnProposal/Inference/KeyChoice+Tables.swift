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

    /// Returns the first column of a table if it is a time that ascends or descends from row to
    /// row; nil for other records. A position would be that of another time after the next change.
    func timeOfTable() -> String? {
        guard shape.isTable, distinct.count >= 3, let first = shape.names.first, isUsable(first), isUnique([first]),
            EnglishName.words(of: first).last.map(KeyChoice.timeNames.contains) ?? false
        else { return nil }
        let texts = distinct.compactMap { $0[first]?.scalarText }, numbers = texts.compactMap { Double($0) }
        func isOrdered<T: Comparable>(_ values: [T]) -> Bool {
            let pairs = zip(values, values.dropFirst())
            return pairs.allSatisfy { $0 < $1 } || pairs.allSatisfy { $0 > $1 }
        }
        return (numbers.count == distinct.count ? isOrdered(numbers) : isOrdered(texts)) ? first : nil
    }
}

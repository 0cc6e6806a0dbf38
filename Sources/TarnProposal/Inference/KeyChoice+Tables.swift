// The keys of tables: rows, or columns, with names.

import Tarn

extension KeyChoice {
    /// Names of the times by which tables of measurements have their rows.
    static let timeNames: Set = [
        "time", "date", "day", "timestamp", "datetime", "t", "ts", "month", "week", "year", "hour", "period",
    ]

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

// How values are taken: what `api`, an entity and an attribute may say about it in the same words.

import TarnImport
import TarnStore

extension DescriptionReader {
    /// The keys that `api` and an entity have for it.
    static let ruleKeys = ["coercion", "dates"]

    /// What counts for all of an API. `api` itself reports keys that are not known.
    mutating func rules(_ top: Section) -> FieldRules {
        guard let value = top["api"], case .mapping(let entries) = value.content else { return FieldRules() }
        var section = Section(field: "api", mark: value.mark, values: [:])
        for entry in entries where DescriptionReader.ruleKeys.contains(entry.key) { section.values[entry.key] = entry.value }
        return rules(section, dates: "dates")
    }

    /// - Parameter dates: the key of the formats of dates.
    mutating func rules(_ section: Section, dates: String) -> FieldRules {
        var rules = FieldRules()
        rules.coercion = word(section, "coercion", "coercion")
        if section[dates] != nil {
            let texts = texts(section, dates)
            if texts.isEmpty, !isReported(section.path(dates)) {
                report(section, dates, "has no format: write one, such as rfc3339, or remove the line")
            }
            rules.dates = texts.compactMap { text, mark in
                do throws(DatePatternError) {
                    return try DateFormat(text)
                } catch {
                    report(section.path(dates), mark, "\(error); the words are \(DateFormat.words.joined(separator: ", "))")
                    return nil
                }
            }
        }
        return rules
    }

    /// One of the words of a type, nil if it is not there or not one.
    mutating func word<Word: RawRepresentable<String> & CaseIterable>(_ section: Section, _ key: String, _ what: String) -> Word? {
        guard let text = text(section, key) else { return nil }
        if let word = Word(rawValue: text) { return word }
        report(section, key, Spelling.unknown(what, text, among: Word.allCases.map(\.rawValue)))
        return nil
    }

    /// What an attribute says, beside its type.
    mutating func rules(ofAttribute section: Section, _ type: AttributeType) -> FieldRules {
        let rules = rules(section, dates: "format")
        if section["format"] != nil, !isReported(section.path("format")), !isReported(section.path("type")) {
            if type != .date, type != .array(.date) {
                report(section, "format", "only a date has a format: remove it, or make this a date")
            } else if section["epoch"] != nil {
                report(section, "epoch", "format says how dates are written: remove epoch, and name its unit under format")
            }
        }
        return rules
    }
}

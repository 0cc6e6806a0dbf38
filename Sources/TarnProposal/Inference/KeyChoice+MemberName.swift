// The keys of records of maps, which have a name each, or for each of their lists.

import Tarn

extension KeyChoice {
    /// Returns the key of records of a map: a field with the name by which the map has them, an id,
    /// or that name; nil for records of lists.
    func byMemberName(_ named: [String]) -> KeyGuess? {
        let name = RecordMap.nameField
        // A list of the map has several records by one name.
        guard shape.fields[name] != nil, !isRepeated([name]) else { return nil }
        let others = shape.names.filter { $0 != name }
        if let field = others.first(where: { RecordMap.repeatsName($0, distinct) }) {
            return KeyGuess(fields: [field], reason: "the name by which the map has the record, too", isCertain: true)
        }
        let id = others.first {
            isCertain($0) && isUsable($0) && isConsistent([$0], isListed: true) && !isRepeated([$0])
        }
        if let id {
            return KeyGuess(fields: [id], reason: "", isCertain: true, doubt: doubtOfLists(id))
        }
        guard shape.isInNamedLists else {
            return KeyGuess(fields: [name], reason: "the name by which the map has the record", isCertain: true)
        }
        // So far, each list has one record. The next one may have two.
        var guess = unnamed(named)
        guard !guess.fields.isEmpty else { return guess }
        if !guess.fields.contains(name) { guess.fields.insert(name, at: 0) }
        guess.reason = "the name by which the map has the list, and what tells its records apart"
        return guess
    }

    /// Returns the reason why the id of records in the lists of a map may not be their key, if no
    /// sample shows it.
    private func doubtOfLists(_ id: String) -> String? {
        guard shape.isInNamedLists, distinct.isEmpty else { return nil }
        let name = YAMLText.comment(EnglishName.field(id), limit: 40)
        return
            "the records are in several lists by name: if `\(name)` is unique only within one, the lists overwrite each other's records; then add the attribute from `\(RecordMap.nameField)` to the key"
    }
}

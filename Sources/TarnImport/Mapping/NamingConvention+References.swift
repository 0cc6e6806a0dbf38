// The JSON keys of relationships whose targets are bare keys: `author_id`, `label_ids`.

extension NamingConvention {
    /// Returns the JSON keys that hold bare keys of a relationship's targets, in order.
    ///
    /// For each suffix, the name with the suffix in the ``style`` comes first (`author_id`,
    /// `authorId`, `author-id`), then the name with the suffix as it is written. For a to-many
    /// relationship, the name is singular and the suffix plural: `labels` is read from `label_ids`,
    /// `categories` from `category_ids`. The plurals of other languages, and irregular ones, need
    /// declared paths.
    package func referenceKeys(for name: String, isToMany: Bool) -> [String] {
        referenceKeys(name, isToMany: isToMany, key: jsonKey(for:), words: jsonWords(of:))
    }

    /// Returns the JSON keys of bare keys that belong to a declared JSON key of a relationship:
    /// `user_id` for `user`.
    func referenceKeys(besideJSONKey key: String, isToMany: Bool) -> [String] {
        referenceKeys(key, isToMany: isToMany, key: { $0 }, words: NamingConvention.words(of:))
    }

    private func referenceKeys(
        _ name: String, isToMany: Bool, key: (String) -> String, words: (String) -> [String]
    ) -> [String] {
        var keys: [String] = []
        for suffix in referenceSuffixes where !suffix.isEmpty {
            let suffix = isToMany ? suffix + "s" : suffix
            for singular in isToMany ? NamingConvention.singulars(of: name) : [name] {
                var candidates = [key(singular) + suffix]
                if style != .none {
                    candidates.insert(style.join(words(singular) + NamingConvention.words(of: suffix)), at: 0)
                }
                for key in candidates where !keys.contains(key) { keys.append(key) }
            }
        }
        return keys
    }

    /// Returns whether a text may be the suffix of a JSON key.
    package static func isReferenceSuffix(_ text: String) -> Bool {
        !words(of: text).isEmpty
            && text.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "_" || $0 == "-"
            }
    }

    /// Returns the forms of which an English name may be the plural; the name itself if none is.
    static func singulars(of name: String) -> [String] {
        let text = name.lowercased()
        func ends(_ endings: String...) -> Bool { endings.contains { text.hasSuffix($0) && text.count > $0.count } }
        if ends("ies") { return [String(name.dropLast(3)) + "y", String(name.dropLast())] }
        if ends("ses", "xes", "zes", "ches", "shes") { return [String(name.dropLast(2)), String(name.dropLast())] }
        if ends("s"), !ends("ss") { return [String(name.dropLast())] }
        return [name]
    }
}

extension String {
    /// The text in single quotes, as descriptions write it.
    ///
    /// Scalars: Swift counts a quote and a combining mark behind it as one character.
    package var quotedYAML: String {
        var quoted = "'".unicodeScalars
        for scalar in unicodeScalars {
            if scalar == "'" { quoted.append(scalar) }
            quoted.append(scalar)
        }
        quoted.append("'")
        return String(quoted)
    }
}

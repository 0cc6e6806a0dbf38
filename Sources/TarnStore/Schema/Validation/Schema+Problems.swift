// The validation of a schema: rules between its entities, attributes and relationships.

extension Schema {
    /// Returns the errors of the schema in the order of its declarations; empty if it is sound.
    ///
    /// A name consists of the letters a–z and A–Z, digits and `_`. An entity's begins with a
    /// letter, a field's with a letter or `_`. Names are ASCII, since they compare by bytes
    /// everywhere and look-alikes would be two names.
    package func problems() -> [SchemaError] {
        locatedProblems().map(\.error)
    }

    /// Returns the errors with the part of the declaration concerned, for messages with a line.
    package func locatedProblems() -> [SchemaProblem] {
        var validation = SchemaValidation(schema: self)
        validation.run()
        return validation.problems
    }
}

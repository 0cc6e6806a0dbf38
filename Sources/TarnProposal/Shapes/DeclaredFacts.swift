/// The facts that a specification declares about a value.
struct DeclaredFacts {
    /// The types of JSON Schema: `string`, `integer`, `number`, `boolean`, `array`, `object`.
    var types: Set<String> = []
    /// The `format`, such as `date-time`.
    var format: String?
    var isNullable = false
    /// Whether the enclosing object always has the value.
    var isRequired = false
    /// The values of an `enum`, texts only.
    var values: [String] = []
    /// The values of the discriminator for which the enclosing object has it; empty for all.
    var kinds: Set<String> = []
}

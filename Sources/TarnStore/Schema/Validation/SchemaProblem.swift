/// An error of a schema, and the part of the declaration concerned.
package struct SchemaProblem: Sendable, Hashable {
    package enum Part: Sendable, Hashable {
        case entity
        case key
        case attribute(String, Aspect)
        case relationship(String, Aspect)
        case index(String)
        case parent
    }

    package enum Aspect: Sendable, Hashable {
        case name, type, values, index, destination, ordered, inverse, initial, rule, join, former
    }

    package var part: Part
    package var error: SchemaError
}

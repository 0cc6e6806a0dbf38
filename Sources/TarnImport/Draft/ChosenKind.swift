/// The kind of a record that the rules of its entity choose.
enum ChosenKind {
    /// The plan by which the record is drafted.
    ///
    /// `isExact`: a rule names the entity, and no further rule can choose a more specific one.
    case plan(Int, isExact: Bool)
    /// None: the record is skipped. The reason is nil if no rule holds.
    case none(reason: String?)
}

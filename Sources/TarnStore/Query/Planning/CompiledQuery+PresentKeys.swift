// Replaced keys in conditions: a temporary key finds the record that the server has given another.

extension CompiledQuery {
    /// Returns the query with the present keys of records whose keys were replaced.
    ///
    /// A key under which a record is stored stays. The result is valid in this snapshot only.
    func withPresentKeys(_ access: StoreAccess) throws -> CompiledQuery {
        if case .always = node { return self }
        guard try access.outbox.counters.aliases > 0 else { return self }
        return CompiledQuery(self, places, try node.map { try places.withPresentKeys($0, access) })
    }
}

extension QueryNode {
    fileprivate func map(_ change: (QueryTest) throws -> QueryTest) rethrows -> QueryNode {
        switch self {
        case .always, .never: self
        case .test(let test, let isNegated): .test(try change(test), isNegated: isNegated)
        case .all(let nodes): .all(try nodes.map { try $0.map(change) })
        case .any(let nodes): .any(try nodes.map { try $0.map(change) })
        }
    }
}

extension QueryPlaces {
    fileprivate func withPresentKeys(_ test: QueryTest, _ access: StoreAccess) throws -> QueryTest {
        let entity: Catalog.Entity, isAttribute: Bool
        switch self[test.place].kind {
        case .toOne(let destination), .toMany(let destination): (entity, isAttribute) = (destination, false)
        case .attribute:
            let place = self[test.place], owner = owner(of: place)
            guard let field = place.field, owner.key == [field], !place.isFolded else { return test }
            (entity, isAttribute) = (owner, true)
        }
        func present(_ operand: Operand) throws -> Operand {
            guard let key = try presentKey(operand, entity, access) else { return operand }
            guard isAttribute else { return Operand(key) }
            return key.components.first.map { Operand(Value($0)) } ?? operand
        }
        switch test.operation {
        case .compare(.equal, let operand):
            return QueryTest(place: test.place, operation: .compare(.equal, try present(operand)))
        case .containsTarget(let operand):
            return QueryTest(place: test.place, operation: .containsTarget(try present(operand)))
        case .isIn(let operands):
            return QueryTest(place: test.place, operation: .isIn(Operand.distinct(try operands.map(present))))
        default: return test
        }
    }

    /// The entity of the record that has a place.
    private func owner(of place: QueryPlace) -> Catalog.Entity {
        place.origin == 0 ? entity : steps[place.origin - 1].destination
    }

    /// Returns the key that has replaced one in a condition; nil if it is the present one.
    private func presentKey(
        _ operand: Operand, _ entity: Catalog.Entity, _ access: StoreAccess
    ) throws -> RecordKey? {
        let value = operand.value.withUnsafeBytes { EncodedValue($0).decoded() }
        guard let key = value.flatMap({ RecordKey($0, of: entity) }) else { return nil }
        let present = try access.outbox.resolved(entity, key)
        return present != key && !present.isDigest ? present : nil
    }
}

// The shape of the values at one place: what the samples have there, and what a specification
// declares.

import Tarn

/// The facts about the values of one key, or of the elements of one list.
final class ValueShape {
    /// The number of values, nulls included.
    private(set) var count = 0
    private(set) var nulls = 0
    private(set) var booleans = 0
    private(set) var scalars = ScalarFacts()
    /// The shape of the objects; nil without any.
    var object: ObjectShape?
    private(set) var objects = 0
    /// The shape of the elements of all lists; nil without any element.
    var element: ValueShape?
    private(set) var lists = 0
    /// Whether values below the maximum depth were left out.
    private(set) var isTooDeep = false
    /// The facts of a specification; nil without one.
    var declared: DeclaredFacts?
    /// The shape of the values of a map that a specification declares, whose names are data; nil
    /// without one.
    var mapped: ValueShape?

    /// The maximum nesting of examined values.
    static let depthLimit = 12
    /// The maximum number of examined elements of one list.
    static let elementLimit = 1000

    /// Adds a value of the samples.
    func add(_ value: JSONValue, depth: Int = 0) {
        count += 1
        guard depth < ValueShape.depthLimit else {
            isTooDeep = true
            return
        }
        switch value {
        case .null: nulls += 1
        case .bool: booleans += 1
        case .number(let digits): scalars.add(number: digits)
        case .string(let text): scalars.add(text: text)
        case .array(let elements):
            lists += 1
            guard !elements.isEmpty else { return }
            let shape = element ?? ValueShape()
            element = shape
            for value in elements.prefix(ValueShape.elementLimit) { shape.add(value, depth: depth + 1) }
        case .object:
            objects += 1
            let shape = object ?? ObjectShape()
            object = shape
            shape.add(value, depth: depth + 1)
        }
    }

    /// Adds the declarations of another shape of the same place.
    func addDeclarations(of other: ValueShape, depth: Int = 0) {
        guard self !== other, depth < ValueShape.depthLimit else { return }
        declared = declared ?? other.declared
        mapped = mapped ?? other.mapped
        if let theirs = other.object {
            if let object { object.addDeclarations(of: theirs, depth: depth + 1) } else { object = theirs }
        }
        if let theirs = other.element {
            if let element { element.addDeclarations(of: theirs, depth: depth + 1) } else { element = theirs }
        }
    }

    /// Whether all values except nulls are objects.
    var isObject: Bool {
        guard object != nil, !isTooDeep else { return false }
        return count == 0 ? declared != nil : objects > 0 && objects + nulls == count
    }

    /// Whether all values except nulls are objects, or bare keys of them.
    var isObjectOrKey: Bool {
        guard object != nil, !isTooDeep, objects > 0 else { return isObject }
        return booleans == 0 && lists == 0 && scalars.fractions == 0 && scalars.emptyTexts == 0
    }

    /// Whether all values except nulls are lists.
    var isList: Bool {
        guard !isTooDeep else { return false }
        return count == 0 ? declared?.types.contains("array") == true : lists > 0 && lists + nulls == count
    }

    /// Whether all values except nulls are lists of objects.
    var isListOfObjects: Bool { isList && element?.isObject == true && element?.nulls == 0 }

    /// The records of a declared map, or of its lists, with the names that the map has for them;
    /// nil without a map.
    var recordsOfMap: ObjectShape? {
        guard let mapped, let records = mapped.isListOfObjects ? mapped.element?.object : mapped.object else {
            return nil
        }
        let shape = ObjectShape()
        shape.addDeclarations(of: records)
        shape.isInNamedLists = mapped.isListOfObjects
        var facts = DeclaredFacts()
        facts.types = ["string"]
        facts.isRequired = true
        shape.shape(of: RecordMap.nameField)?.declared = facts
        return shape
    }

    /// Whether all objects are ObjectIds of MongoDB.
    var isObjectID: Bool { isObject && object?.names == [JSONValue.objectID] }

    /// The shape of the keys that the values are: of the texts in ObjectIds, else of the values.
    var key: ValueShape { isObjectID ? object?.fields[JSONValue.objectID] ?? self : self }

    /// Whether all values are scalars or null, and at least one is a number or text.
    var isScalar: Bool {
        guard !isTooDeep else { return false }
        if count == 0, let declared {
            return !declared.types.isEmpty && declared.types.isSubset(of: ["string", "integer", "number"])
        }
        return objects == 0 && lists == 0 && booleans == 0 && scalars.numbers + scalars.texts > 0
    }
}

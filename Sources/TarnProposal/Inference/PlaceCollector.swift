// The places of the samples with records: the lists, and the nested objects that have a key.

import Tarn

/// Collects the places of records.
struct PlaceCollector {
    private(set) var places: [Place] = []
    /// The base URLs of the API: the main one first.
    private let bases: [String]

    init(bases: [String]) { self.bases = bases }

    /// The maximum number of places.
    static let limit = 400
    /// The maximum number of keys from a record to an object nested in it.
    static let nestingLimit = 5

    /// Adds the list of a source.
    ///
    /// - Parameters:
    ///   - key: the key that a person has chosen; nil for a guess.
    ///   - named: fields by which paths of a specification name a record.
    mutating func addList(
        _ shape: ObjectShape, source: Int, name: String, key: [String]? = nil, named: [String] = []
    ) {
        let choice = KeyChoice(shape, name: name)
        // The URL may be that of something else, such as of a station in a list of measurements.
        let form = URLForm(of: shape, bases: bases).flatMap { choice.isNamed(by: $0) ? $0 : nil }
        var guess =
            key.map { KeyGuess(fields: $0, reason: "chosen", isCertain: true) } ?? choice.listed(named: named)
        let doubt = guess.doubt
        if key == nil {
            guess = PlaceCollector.resourceKey(shape, name: name) ?? PlaceCollector.separated(guess, shape)
        }
        if key == nil, !guess.isCertain || guess.fields.isEmpty, let labels = shape.labels {
            guess = PlaceCollector.key(labels)
        }
        // Kinds with keys of their own may share the last segment of their URLs, too.
        if let form, !guess.isCertain, guess.doubt == doubt {
            guess = KeyGuess(
                fields: [], reason: "from the record's own URL", isCertain: true, isByURL: true,
                alternatives: Array(guess.fields.prefix(1)))
            if form.field.first.map({ guess.alternatives == [$0] }) == true { guess.alternatives = [] }
        }
        let place = Place(index: places.count, source: source, at: Place.Location(name: name), shape, guess)
        place.urlForm = form
        places.append(place)
    }

    /// Returns the key of series: all of their labels.
    private static func key(_ labels: SeriesLabels) -> KeyGuess {
        var guess = KeyGuess(fields: [], reason: "the labels of the samples, which differ together", isCertain: true)
        guess.labels = labels.paths
        guess.doubt =
            "the key has the labels of the samples: if records differ only in another label, the store has one record for them; then add it to the key, with `absent: { value: '' }` if some lack it"
        return guess
    }

    /// Returns a key that records of different kinds do not share, if each kind declares its `id`.
    private static func separated(_ guess: KeyGuess, _ shape: ObjectShape) -> KeyGuess {
        guard shape.hasSeparateKeys, guess.fields.count == 1, let field = guess.fields.first else { return guess }
        var guess = guess
        guess.isCertain = false
        guess.doubt =
            "each kind declares a key of its own: `\(YAMLText.comment(field, limit: 40))` alone may name two records of different kinds"
        guard let property = shape.discriminator?.property, property != field,
            let value = shape.fields[property], value.isScalar, value.nulls == 0, value.count == shape.count
        else { return guess }
        guess.fields = [property, field]
        guess.alternatives = []
        guess.reason = "each kind declares a key of its own"
        guess.doubt = nil
        return guess
    }

    /// The members of resource objects of JSON:API.
    private static let resourceMembers: Set = ["type", "id", "lid", "attributes", "relationships", "links", "meta"]

    /// Returns the key of resource objects of JSON:API, whose ids are unique only within a type;
    /// nil for other objects, and for a list of one type.
    private static func resourceKey(_ shape: ObjectShape, name: String) -> KeyGuess? {
        guard Set(shape.names).isSubset(of: resourceMembers),
            shape.fields["attributes"] != nil || shape.fields["relationships"] != nil,
            let type = shape.fields["type"], let id = shape.fields["id"]
        else { return nil }
        guard [type, id].allSatisfy({ $0.isScalar && $0.nulls == 0 && $0.count == shape.count }) else { return nil }
        // A further page may include another type.
        guard name == "included" || values(of: type).count > 1 else { return nil }
        return KeyGuess(fields: ["type", "id"], reason: "an id is unique only within its type", isCertain: true)
    }

    /// Adds the objects that are nested in the lists.
    mutating func addNested() {
        for place in places where place.isListed { descend(place.shape, place.index, []) }
    }

    /// The number of examined fields: schemas that contain each other would have no end.
    private var visits = 0
    private static let visitLimit = 50_000

    private mutating func descend(_ shape: ObjectShape, _ owner: Int, _ keys: [String]) {
        guard keys.count < PlaceCollector.nestingLimit else { return }
        for name in shape.names {
            visits += 1
            guard visits < PlaceCollector.visitLimit else { return }
            guard places.count < PlaceCollector.limit, let value = shape.fields[name] else { continue }
            let isList = value.isListOfObjects
            guard let object = isList ? value.element?.object : value.isObjectOrKey ? value.object : nil,
                !object.isMap
            else { continue }
            let path = keys + [name]
            if isList, let rows = object.rowKey {
                var guess = KeyGuess(fields: rows.fields, reason: rows.reason, isCertain: true, doubt: rows.doubt)
                guess.isWithinParent = true
                let location = Place.Location(owner: owner, keys: path, isList: isList, name: name)
                places.append(Place(index: places.count, source: nil, at: location, object, guess))
            } else if let found = identifiers(object, name) {
                let location = Place.Location(owner: owner, keys: path, isList: isList, name: name)
                let place = Place(index: places.count, source: nil, at: location, object, found.key)
                place.typeTarget = found.target
                places.append(place)
            } else if let guess = key(of: object, name).map({ PlaceCollector.separated($0, object) }) {
                let subject = isList ? PlaceCollector.subject(of: object, at: path) : name
                let location = Place.Location(owner: owner, keys: path, isList: isList, name: subject)
                let place = Place(index: places.count, source: nil, at: location, object, guess)
                places.append(place)
                if depth(of: place) < 8, !isRecursive(place) { descend(object, place.index, []) }
            } else if let target = target(byURLOf: object) {
                let location = Place.Location(owner: owner, keys: path, isList: isList, name: name)
                let place = Place(index: places.count, source: nil, at: location, object, target.key)
                place.urlTarget = target.index
                places.append(place)
            } else if !isList, value.isObject {
                descend(object, owner, path)
            }
        }
    }

    /// Returns the name of the objects in a nested list: of `refunds.data`, what they say
    /// themselves, `"object": "refund"`, or `refunds`.
    private static func subject(of object: ObjectShape, at path: [String]) -> String {
        let name = path.last ?? ""
        guard path.count > 1, ["data", "items", "results", "records", "entries"].contains(name.lowercased()) else {
            return name
        }
        if let stated = object.fields["object"], stated.count == object.count {
            let values = values(of: stated)
            if values.count == 1, let value = values.first, EnglishName.isValid(value) { return value }
        }
        let outer = path[path.count - 2], words = EnglishName.words(of: outer)
        return words.last.map { EnglishName.singular($0) != $0 } == true ? outer : name
    }

    /// Returns the key of objects that only name a record by its type and its id, as in JSON:API,
    /// and the list whose records have this type; nil for other objects.
    private func identifiers(_ object: ObjectShape, _ name: String) -> (key: KeyGuess, target: Int?)? {
        guard Set(object.names).isSubset(of: ["id", "type", "meta"]), let id = object.fields["id"], id.isScalar,
            let type = object.fields["type"], type.isScalar, id.nulls == 0, type.nulls == 0,
            type.count == object.count
        else { return nil }
        let types = PlaceCollector.values(of: type), lists = places.filter(\.isListed)
        let target = lists.first { list in
            types.count == 1 && list.key.fields == ["id"]
                && list.shape.fields["type"].map(PlaceCollector.values) == types
        }
        let mixed = lists.first { list in
            guard list.key.fields == ["type", "id"], !types.isEmpty, let known = list.shape.fields["type"] else {
                return false
            }
            return types.isSubset(of: PlaceCollector.values(of: known))
        }
        if let target = target ?? mixed { return (target.key, target.index) }
        let word = EnglishName.singularWords(of: name).last
        let isNamed = lists.contains { list in
            EnglishName.singularWords(of: list.name).last == word
                || list.shape.schemaName != nil && list.shape.schemaName == object.schemaName
        }
        guard !isNamed else { return nil }
        let key = KeyGuess(fields: ["type", "id"], reason: "ids of several types may be equal", isCertain: true)
        return (key, nil)
    }

    /// Returns the values of texts that the samples have, or those that are declared.
    private static func values(of shape: ValueShape) -> Set<String> {
        guard shape.count > 0 else { return Set(shape.declared?.values ?? []) }
        return shape.scalars.isOverflowing ? [] : Set(shape.scalars.counts.keys)
    }

    /// Returns the list whose URLs nested objects have: `{name, url}`.
    private func target(byURLOf object: ObjectShape) -> Place? {
        places.first { place in
            guard place.isListed, let form = place.urlForm, form.field.count == 1, let name = form.field.first,
                let value = object.fields[name], value.count == object.count, value.nulls == 0
            else { return false }
            return form.matches(value)
        }
    }

    /// Returns the key of nested objects; nil if they are no records.
    private func key(of object: ObjectShape, _ name: String) -> KeyGuess? {
        if object.names == [JSONValue.objectID] { return nil }
        let lists = places.filter(\.isListed)
        if let guess = KeyChoice(object, name: name).nested(lists) { return guess }
        // The key of a list with the same name, or with the same fields.
        let words = EnglishName.singularWords(of: name)
        for place in lists where place.key.fields.count == 1 {
            guard let field = place.key.fields.first, object.fields[field] != nil, object.names.count > 1 else {
                continue
            }
            let shared = object.names.count { place.shape.fields[$0] != nil }
            let isNamed = EnglishName.singularWords(of: place.name).last == words.last
            guard isNamed ? shared * 2 >= object.names.count : shared == object.names.count && shared >= 3 else {
                continue
            }
            if let guess = KeyChoice(object, name: name).shared(field, lists) { return guess }
        }
        return nil
    }

    private func depth(of place: Place) -> Int {
        var depth = 0, owner = place.owner
        while let next = owner {
            depth += 1
            owner = places[next].owner
        }
        return depth
    }

    /// Whether a schema contains itself.
    private func isRecursive(_ place: Place) -> Bool {
        guard let name = place.shape.schemaName, place.shape.count == 0 else { return false }
        var owner = place.owner
        while let next = owner {
            if places[next].shape.schemaName == name { return true }
            owner = places[next].owner
        }
        return false
    }
}

extension JSONValue {
    /// Returns the JSON patch (RFC 6902) that sets the values of an object at places.
    ///
    /// Each is an operation `add`, which replaces the value that is there (§4.1). A place without a
    /// value has none. An object above a place must exist at the server: the patch creates none.
    ///
    /// - Parameter places: keys that lead to values, outermost first.
    /// - Throws: `JSONPatchError.unplaced` if the object has a value that is at none of them.
    package static func patch(
        setting places: [[String]], of body: JSONValue
    ) throws(JSONPatchError) -> JSONValue {
        var operations: [JSONValue] = [], known: Set<[[UInt8]]> = []
        for place in places where known.insert(place.map { Array($0.utf8) }).inserted {
            guard let value = place.reduce(body as JSONValue?, { $0?[$1] }) else { continue }
            operations.append(
                .object([
                    Member("op", .string("add")), Member("path", .string(pointer(to: place))), Member("value", value),
                ]))
        }
        if let keys = body.keys(outside: known, []) { throw .unplaced(JSONPath(keys: keys).description) }
        return .array(operations)
    }

    /// The JSON pointer to a place (RFC 6901 §3).
    private static func pointer(to place: [String]) -> String {
        place.map { "/" + $0.replacing("~", with: "~0").replacing("/", with: "~1") }.joined()
    }

    /// The keys that lead to the first value outside of places; nil if there is none.
    private func keys(outside places: Set<[[UInt8]]>, _ keys: [String]) -> [String]? {
        guard !places.contains(keys.map { Array($0.utf8) }) else { return nil }
        guard case .object(let members) = self, !members.isEmpty || keys.isEmpty else { return keys }
        return members.lazy.compactMap { $0.value.keys(outside: places, keys + [$0.key]) }.first
    }
}

// The parameters of a request that tell pages apart. Pure.

extension PageRequest {
    /// Returns the value of a parameter of the request, or nil.
    public func value(at place: Pagination.ParameterPlace) -> String? {
        switch place {
        case .query(let name): QueryParameters.values(in: url).first { $0.name == name }?.value
        case .body(let keys): body?.value(at: keys)
        }
    }

    /// Returns the request with a value of a parameter.
    ///
    /// - Parameter isNumber: whether a JSON body has the value as a number. A query has it as text.
    public func setting(_ place: Pagination.ParameterPlace, to text: String, isNumber: Bool = false) -> PageRequest {
        var request = self
        switch place {
        case .query(let name): request.url = QueryParameters.set(name, to: text, in: url)
        case .body(let keys):
            var body = request.body ?? .json(.object([]))
            body.set(keys, to: isNumber ? .number(text) : .string(text))
            request.body = body
        }
        return request
    }

    /// Returns the request without a query parameter. A parameter in the body is kept.
    func without(_ place: Pagination.ParameterPlace) -> PageRequest {
        guard case .query(let name) = place else { return self }
        var reference = URLReference(url), request = self
        reference.query = reference.query.map { query in
            query.split(separator: "&", omittingEmptySubsequences: false).filter {
                QueryParameters.name(of: $0) != name
            }.joined(separator: "&")
        }
        request.url = reference.description
        return request
    }

    /// Returns the request with the page size, if there is one.
    func sized(_ size: Pagination.PageSize?) -> PageRequest {
        size.map { setting($0.place, to: String($0.value), isNumber: true) } ?? self
    }
}

extension Int {
    /// Returns the sum, clamped to the range of `Int`.
    func addingClamped(_ other: Int) -> Int {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }

    /// Returns the difference, clamped to the range of `Int`.
    func subtractingClamped(_ other: Int) -> Int {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? (other < 0 ? .max : .min) : difference
    }

    /// Returns the number of whole steps from a start to this number, or nil.
    func steps(from start: Int, by size: Int) -> Int? {
        let (distance, overflow) = subtractingReportingOverflow(start)
        guard !overflow, distance >= 0, size > 0 else { return nil }
        return distance / size
    }
}

extension String {
    /// Whether the text is an integer in JSON's syntax. `+7` and `007` are not.
    package var isJSONInteger: Bool { Int(self).map { String($0).hasSameBytes(as: self) } ?? false }

    /// Whether another text has the same UTF-8 bytes. Servers may tell canonically equivalent ones
    /// apart: such cursors, and keys of records, are different.
    package func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

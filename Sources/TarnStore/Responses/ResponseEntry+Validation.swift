extension ResponseEntry {
    /// The status and the validators of a response, and the times at which they were true.
    public struct Validation: Sendable, Hashable {
        /// The HTTP status.
        public var status: Int
        /// The header fields that are needed later, in order: name, value, name, …
        package var headers: [String]
        /// The time when the response was fetched.
        package var fetchedAt: Timestamp
        /// The time when the response was fetched or last confirmed by a 304.
        public var validatedAt: Timestamp
        /// Whether the response answers no request before it is validated or requested anew: a
        /// later request may have changed the resource, or the values of its records.
        package var isInvalidated: Bool
        /// The URL of the API that answered after redirects: the base of relative links.
        ///
        /// Nil if the URL of the request answered.
        package var answeredBy: String?
        /// The fields ETag and Last-Modified that were removed from ``headers``, but that the next
        /// write of the record still requires; empty if there are none.
        package var knownVersion: [String] = []
        /// The time when ``knownVersion`` was last known to be the store's version, if it is later
        /// than ``validatedAt``.
        ///
        /// The answer to a change has named it, a response was not imported because of another
        /// record's unique value, or a list that stays has had the record when it was deleted.
        var versionAt: Timestamp?

        package init(
            status: Int, headers: [String] = [], fetchedAt: Timestamp, validatedAt: Timestamp,
            isInvalidated: Bool = false, answeredBy: String? = nil
        ) {
            self.status = status
            self.headers = headers
            self.fetchedAt = fetchedAt
            self.validatedAt = validatedAt
            self.isInvalidated = isInvalidated
            self.answeredBy = answeredBy
        }

        /// Makes the response stale, and removes its validators: no 304 can confirm it.
        ///
        /// - Parameter keepingVersion: whether writes still require the version that they name.
        package mutating func outdate(keepingVersion: Bool = false) {
            isInvalidated = true
            removeValidators(keepingVersion: keepingVersion)
        }

        /// Removes the validators: no 304 can confirm the response.
        ///
        /// - Parameter keepingVersion: whether writes still require the version that they name.
        package mutating func removeValidators(keepingVersion: Bool = false) {
            var kept: [String] = [], removed: [String] = []
            for index in stride(from: 0, to: headers.count - 1, by: 2) {
                if ["etag", "last-modified"].contains(headers[index].lowercased()) {
                    removed += headers[index...index + 1]
                } else {
                    kept += headers[index...index + 1]
                }
            }
            headers = kept
            guard !keepingVersion || !removed.isEmpty else { return }
            (knownVersion, versionAt) = (keepingVersion ? removed : [], nil)
        }

        /// The fields ETag and Last-Modified that the next write of the record requires.
        package var version: [String] {
            guard !isInvalidated else { return knownVersion }
            var kept = self
            kept.removeValidators(keepingVersion: true)
            return kept.knownVersion
        }

        /// Returns whether the validation is of the same response as an earlier copy, and was not
        /// invalidated since.
        func isUnchanged(since copy: Validation) -> Bool {
            fetchedAt == copy.fetchedAt && status == copy.status && (copy.isInvalidated || !isInvalidated)
                && validators == copy.validators
        }

        /// The values of ETag and Last-Modified.
        var validators: [String] { Validation.validators(of: headers) }

        /// Returns the values of ETag and Last-Modified among header fields.
        static func validators(of headers: [String]) -> [String] {
            stride(from: 0, to: headers.count - 1, by: 2).compactMap { index in
                let length = headers[index].utf8.count
                guard length == "etag".utf8.count || length == "last-modified".utf8.count else { return nil }
                let name = headers[index].lowercased()
                return name == "etag" || name == "last-modified" ? "\(name) \(headers[index + 1])" : nil
            }
        }
    }
}

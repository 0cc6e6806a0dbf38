// A finding of `tarn check`.

/// A finding of a check of a description.
package struct CheckFinding: Sendable, Hashable {
    /// How serious a finding is.
    package enum Severity: String, Sendable, Hashable, CaseIterable {
        /// A sync would fail.
        case error
        /// Something is probably not what the author wants.
        case warning
        /// A fact that is good to know before a sync.
        case note
    }

    /// The kind of a finding. The raw values are stable.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// The description breaks a rule of the format.
        case description = "description"
        /// The store cannot be read.
        case store = "store"
        /// The store has records that contradict the description.
        case schemaRefused = "schema.refused"
        /// The next sync changes the schema of the store.
        case schemaChanged = "schema.changed"
        /// Records may keep values of the former sources of a field.
        case sourceChanged = "source.changed"
        /// The store has a unique index that the description does not declare.
        case indexKept = "index.kept"
        /// Records of former lists stay, and no list of the description has them.
        case recordsUnlisted = "records.unlisted"
        /// Nothing leads to an entity.
        case entityUnused = "entity.unused"
        /// No endpoint lists an entity: its records are known from nested objects only.
        case entityNested = "entity.nested"
        /// Records of a relationship's destination are never fetched.
        case relationshipUnreachable = "relationship.unreachable"
        /// Every source of a field is outside of the records, and none of them has a value.
        case sourceUnreachable = "source.unreachable"
        /// No endpoint stores the records that another one is requested for.
        case endpointUnreachable = "endpoint.unreachable"
        /// The records of an endpoint with orphans stay when their owner is deleted.
        case ownerWithoutRule = "orphans.owner"
        /// An endpoint requests changes only, and nothing tells which records were deleted.
        case deletionsUntold = "since.deletions"
        /// Whether a person is signed in to an API.
        case login = "login"
        /// The server does not answer as the description expects.
        case endpointFailed = "endpoint.failed"
        /// A page of an endpoint was fetched.
        case endpointAnswered = "endpoint.answered"
        /// A page of an endpoint was not requested.
        case endpointSkipped = "endpoint.skipped"
        /// The pagination style was determined from the first page.
        case paginationDetected = "pagination.detected"
        /// The response has JSON that is neither mapped nor ignored.
        case unmapped = "import.unmapped"
        /// A value was not imported as received.
        case notImported = "import.diagnostic"
        /// No record of the page has an attribute.
        case absent = "import.absent"
    }

    package var severity: Severity
    package var code: Code
    /// The location in the description; without a line if the finding concerns the whole file.
    package var file: String
    package var line: Int?
    package var column: Int?
    /// The dotted path in the description, or the name of an endpoint; may be empty.
    package var field: String
    /// The finding and the way out.
    package var message: String

    init(
        _ severity: Severity, _ code: Code, file: String, at mark: YAMLValue.Mark? = nil, field: String = "",
        _ message: String
    ) {
        self.severity = severity
        self.code = code
        self.file = mark?.file ?? file
        line = mark?.line
        column = mark?.column
        self.field = field
        self.message = message
    }

    init(_ problem: DescriptionError.Problem) {
        severity = .error
        code = .description
        (file, line, column) = (problem.file, problem.line, problem.column)
        (field, message) = (problem.field, problem.message)
    }
}

extension CheckFinding: CustomStringConvertible {
    /// One line in the form of compilers: `tarn.yaml:9:14: error: entities.Issue: …`.
    package var description: String {
        var problem = DescriptionError.Problem(file: file, line: line, column: column, field: field, message)
        problem.message = message
        let plain = problem.description
        let place = DescriptionError.Problem(file: file, line: line, column: column, "").description
        return place + "\(severity.rawValue): " + plain.dropFirst(place.count)
    }
}

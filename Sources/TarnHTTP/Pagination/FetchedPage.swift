/// A fetched page, from which a pagination style determines the next one.
public struct FetchedPage: Sendable {
    /// The request for the page.
    public var request: PageRequest
    /// The facts about the page.
    public var facts: PageFacts
    /// The ordinal of the page in its scan, counted from 1.
    public var ordinal: Int
    /// The number of records that the scan has listed so far, this page included.
    public var listed: Int
    /// The treatment of evidence that a short page is not the last one.
    var more = PageEvidence.Rule.fail
    /// The request for the first page of the scan; nil if it is unknown.
    var first: PageRequest?
    /// The base URL of the API; nil if it is unknown.
    var base: String?

    /// Creates a page; by default, the first one of its scan.
    public init(_ request: PageRequest, _ facts: PageFacts, ordinal: Int = 1, listed: Int? = nil) {
        self.request = request
        self.facts = facts
        self.ordinal = ordinal
        self.listed = listed ?? facts.recordCount
    }

    /// Returns the page whose request has another value of a parameter.
    ///
    /// - Parameter isNumber: whether a JSON body has the value as a number. A query has it as text.
    /// - Throws: `PaginationError.malformed` if the value is too long for a request.
    package func next(
        setting place: Pagination.ParameterPlace, to text: String, isNumber: Bool = false
    ) throws(PaginationError) -> NextPage {
        guard text.utf8.count <= PageSequence.linkLimit else {
            throw .malformed(link: text.excerpt, reason: PageSequence.tooLong)
        }
        let next = request.setting(place, to: text, isNumber: isNumber)
        if case .body = place, let body = next.body { return .nextBody(body) }
        return .next(next.url)
    }

    /// Returns the page whose JSON body has another object or list at a path of keys; nil if the
    /// request has a form.
    func next(setting keys: [String], to value: JSONBody) -> NextPage? {
        guard case .json(var body) = request.body ?? .json(.object([])) else { return nil }
        body[keys] = value
        return .nextBody(.json(body))
    }
}

// The errors of pagination.

/// The reason why a scan cannot continue.
public enum PaginationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Page loop: the successor of a page was already fetched.
    case repeated(url: String)
    /// A page lists the same records as the page before, in the same order.
    ///
    /// The server ignores the pagination parameters.
    case samePage(url: String)
    /// The scan has more pages than its limit.
    case tooManyPages(limit: Int, url: String)
    /// The scan has more records than its limit.
    case tooManyRecords(limit: Int, url: String)
    /// The scan would end although the server reports more records.
    case shrunk(listed: Int, hint: String)
    /// The scan is at its end, but the page has evidence of more records.
    ///
    /// `style` is the style that ended. `advice` is a style that may continue, in the syntax of a
    /// description.
    case more(PageEvidence, listed: Int, style: String, advice: String?, url: String)
    /// A restart behind the last record would start at the same record again.
    case stuck(value: String, url: String)
    /// The next page's number overflows a 64-bit integer.
    case beyondCounting(value: String, url: String)
    /// The closure of a custom style threw an error.
    case refused(by: String, reason: String)
    /// A link leads to another server. It is not followed: credentials must not leave the API.
    case foreign(link: String, allowed: [String])
    /// A link or a cursor is not a valid URL, or is too long.
    case malformed(link: String, reason: String)

    public var description: String {
        switch self {
        case .repeated(let url):
            "page loop: the server's next link leads to a page that was already fetched: \(Redaction.shown(url))"
        case .samePage(let url):
            "this page lists the same records as the one before, the server seems to ignore what tells pages apart: \(Redaction.shown(url)); "
                + "check the names of the parameters under paginate, or write end: repeated if the server repeats its last page"
        case .tooManyPages(let limit, let url):
            "more than \(limit) pages, the limit of one scan: stopped before \(Redaction.shown(url)); "
                + "limit: { pages: … } at the endpoint allows more, and the next scan goes on there"
        case .tooManyRecords(let limit, let url):
            "more than \(limit) records, the limit of one scan: stopped before \(Redaction.shown(url)); "
                + "limit: { records: … } at the endpoint allows more, and the next scan goes on there"
        case .shrunk(let listed, let hint):
            "the pages seem to end after \(listed) records, but the server says otherwise: \(hint)"
        case .more(let evidence, let listed, let style, let advice, let url) where evidence.isEmptyPage:
            "paginate: \(style) ends after \(listed) records at a page that has none, but \(evidence): \(Redaction.url(url)). "
                + "If the first page has the number 0, write "
                + (advice.map { "paginate: \($0)" } ?? "start: 0 under paginate")
                + "; if nothing is missing, write more: { ignore: ['\(evidence.name)'] }"
        case .more(let evidence, let listed, _, _, let url) where evidence.isBefore:
            "the pages end after \(listed) records at one without counts, but \(evidence): \(Redaction.url(url)). "
                + "A page may be missing: the next sync begins the list again; "
                + "if nothing is missing, write more: { ignore: ['\(evidence.name)'] }"
        case .more(let evidence, let listed, let style, let advice, let url):
            "paginate: \(style) ends after \(listed) records, but the page speaks of more: \(evidence): \(Redaction.url(url)). "
                + (advice.map { "Write paginate: \($0)" } ?? "Name the style of these pages under paginate")
                + "; if nothing is missing, write more: { ignore: ['\(evidence.name)'] }"
        case .stuck(let value, let url):
            "the scan cannot begin again behind \"\(value.excerpt)\", where it began already: more records have this value than the server lists: "
                + Redaction.shown(url)
        case .beyondCounting(let value, let url):
            "the page after \(value.excerpt) has no number of 64 bits: \(Redaction.shown(url)); check `start` under paginate"
        case .refused(let name, let reason): "the pagination \(name) cannot go on: \(reason.excerpt)"
        case .foreign(let link, let allowed):
            "the next page is on another server: \(Redaction.shown(link)); allowed: "
                + allowed.map { Redaction.shown($0) }.joined(separator: ", ")
                + ". If it is the same API, add its base URL to api.aliases; if it may be asked without credentials, to api.follow "
                + "(if there are several APIs: apis.NAME.aliases, apis.NAME.follow)"
        case .malformed(let link, let reason):
            "the next page's link cannot be followed: \(Redaction.shown(link)): \(reason)"
        }
    }
}

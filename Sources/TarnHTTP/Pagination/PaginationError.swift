// Why a walk over pages cannot go on.

/// Why the pages after one cannot be asked for.
public enum PaginationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A page names one as its successor that was there already.
    case repeated(url: String)
    /// A page lists the same records as the one before, in the same order: the server does not look at what tells pages apart.
    case samePage(url: String)
    case tooManyPages(limit: Int, url: String)
    case tooManyRecords(limit: Int, url: String)
    /// The pages would end although the server says that there is more.
    case shrunk(listed: Int, hint: String)
    /// The walk is at its end, and the page speaks of more. `style` is the style that ended; `advice` one that may go on, as it is written.
    case more(PageEvidence, listed: Int, style: String, advice: String?, url: String)
    /// A walk that begins again behind a record would begin at the same one.
    case stuck(value: String, url: String)
    /// The next page would have a number that no integer of 64 bits holds.
    case beyondCounting(value: String, url: String)
    /// A closure of the user's refuses to go on.
    case refused(by: String, reason: String)
    /// A link leaves the API. Credentials must not go there, so it is not followed.
    case foreign(link: String, allowed: [String])
    case malformed(link: String, reason: String)

    public var description: String {
        switch self {
        case .repeated(let url):
            "the next page was fetched already, the server's pages go in a circle: \(Redaction.shown(url))"
        case .samePage(let url):
            "this page lists the same records as the one before, the server seems to ignore what tells pages apart: \(Redaction.shown(url)); "
                + "check the names of the parameters under paginate"
        case .tooManyPages(let limit, let url):
            "more than \(limit) pages, the limit of one walk: stopped before \(Redaction.shown(url))"
        case .tooManyRecords(let limit, let url):
            "more than \(limit) records, the limit of one walk: stopped before \(Redaction.shown(url))"
        case .shrunk(let listed, let hint):
            "the pages seem to end after \(listed) records, but the server says otherwise: \(hint). "
                + "It may give less than it is asked for: ask for a smaller page, or write end: empty"
        case .more(let evidence, let listed, let style, let advice, let url):
            "paginate: \(style) ends after \(listed) records, but the page speaks of more: \(evidence): \(Redaction.url(url)). "
                + (advice.map { "Write paginate: \($0)" } ?? "Name the style of these pages under paginate")
                + "; if nothing is missing, write more: { ignore: ['\(evidence.name)'] }"
        case .stuck(let value, let url):
            "the walk cannot begin again behind \"\(value.excerpt)\", where it began already: more records have this value than the server lists: "
                + Redaction.shown(url)
        case .beyondCounting(let value, let url):
            "the page after \(value.excerpt) has no number of 64 bits: \(Redaction.shown(url)); check `start` under paginate"
        case .refused(let name, let reason): "the pagination \(name) cannot go on: \(reason.excerpt)"
        case .foreign(let link, let allowed):
            "the next page is on another server: \(Redaction.shown(link)); allowed: "
                + allowed.map { Redaction.shown($0) }.joined(separator: ", ")
                + ". If it is the same API, add its base URL to api.aliases; if it may be asked without credentials, to api.follow"
        case .malformed(let link, let reason):
            "the next page's link cannot be followed: \(Redaction.shown(link)): \(reason)"
        }
    }
}

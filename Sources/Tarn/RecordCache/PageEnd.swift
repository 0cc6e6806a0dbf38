import TarnHTTP
import TarnStore

/// What an answer says about the page after it.
struct PageEnd: Sendable {
    var facts: PageFacts
    /// The URL of the API that answered, if redirects led to it.
    var answeredBy: String?
    /// Where the page is in its list, as far as its entry says.
    var position: ListPosition?
}

import TarnHTTP
import TarnStore

/// The facts of a response about the next page.
struct PageEnd: Sendable {
    var facts: PageFacts
    /// The URL of the API that answered after redirects; nil if there were none.
    var answeredBy: String?
    /// The position of the page in its list, if the entry has it.
    var position: ListPosition?
}

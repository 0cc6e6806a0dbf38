/// A reason why a style of pagination may not reach all records, without a sign in an answer.
///
/// A sync cannot notice it: the file states it, and `tarn init` prints it.
struct StyleDoubt: Sendable {
    /// The remark for the endpoint.
    var remark: String
    /// Styles that may be right instead, each with its condition.
    var styles: [(text: String, condition: String)] = []
}

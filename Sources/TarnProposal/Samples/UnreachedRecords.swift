// Lists of samples whose style of pagination is unknown.

/// A sign in a sample that the list goes on, without a style that is known to lead there.
struct UnreachedRecords: Sendable {
    /// The sign, in words: `has_more is true`.
    var sign: String
    /// The header field or the path with the sign.
    var name: String
    /// The number of records of the sample.
    var listed: Int
    /// Styles that may lead on, each with its condition.
    var styles: [(text: String, condition: String)]

    /// The remark for the endpoint.
    var remark: String {
        "\(sign), but this page has \(listed == 1 ? "1 record" : "\(listed) records"): `tarn sync` fails here until `paginate` names the style of the API. If this page is all that is wanted, add more: { ignore: [\(YAMLText.scalar(name))] }."
    }
}

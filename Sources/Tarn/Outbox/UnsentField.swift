/// A field that the request of an operation does not send.
package struct UnsentField: Sendable, Hashable {
    package var name: String
    /// The reason why no body has a place for it; nil if the request lists other fields.
    package var reason: String?
    /// Whether it has requests of its own, and an update has other fields as well.
    var isApart = false

    /// One line for a field that stays a local change.
    ///
    /// - Parameter declaration: the key of the request in the description.
    package func warning(_ declaration: String) -> String {
        "\(name) is not sent, and stays a local change: \(reason ?? "\(declaration).fields lacks it")"
    }

    func error(_ entity: String, _ request: WriteRequest) -> WriteError {
        if isApart {
            return .request(
                place: request.place,
                reason: "\(name) of \(entity) has a request of its own now: discard the operation, and queue the "
                    + "change again, by itself")
        }
        if reason == nil, request.field != nil {
            return .request(
                place: request.place, reason: "the request for \(name) of \(entity) lacks it under `fields`")
        }
        guard let reason else { return .nothingToSend(entity: entity, fields: [name]) }
        return .request(
            place: request.place,
            reason: "\(name) of \(entity) cannot be sent: \(reason); declare its place in the body under `places`, "
                + "or change it without queueing")
    }
}

import TarnHTTP

extension RecordRequest {
    /// Returns the request with a header field, which replaces that of the API with this name.
    ///
    /// It is sent to the API only. The response is stored for this value, and answers no request
    /// with another one. The value of a credential is stored as a keyed hash only; credentials
    /// belong in the authentication of the API.
    ///
    /// The records are shared: the store has the values of the response that was imported last. If
    /// it has changed them, a response to the same URL with another value of the field is requested
    /// anew, without a condition, before it answers again. Responses to other URLs are not.
    ///
    /// ```swift
    /// let issues = try await forge.all(.issues("acme/anvil").header("Accept-Language", "de"))
    /// ```
    ///
    /// - Parameters:
    ///   - name: the name of the field, compared without case.
    ///   - value: the value, without line breaks.
    public func header(_ name: String, _ value: String) -> RecordRequest {
        with { request in
            var headers = TransportHeaders(request.endpoint.headers)
            headers[name] = value
            request.endpoint.headers = headers.fields
        }
    }
}

extension ProposalWriter {
    /// Writes the requests that send changes.
    mutating func write(_ writes: ProposedWrites) {
        guard !writes.requests.isEmpty else { return comments(writes.remarks, indent: 4) }
        line(4, "write:", "changes are queued by `tarn update`, and sent by `tarn push`")
        for request in writes.requests {
            comments(request.comments, indent: 6)
            guard !request.options.isEmpty || request.fields != nil else {
                line(6, "\(request.key): \(YAMLText.scalar(request.line))")
                continue
            }
            line(6, "\(request.key):")
            line(8, "request: \(YAMLText.scalar(request.line))")
            for option in request.options { line(8, "\(option.key): \(option.text)") }
            if let fields = request.fields { list("fields", fields, indent: 8) }
        }
        if let read = writes.read { line(6, "read: \(YAMLText.scalar(read))") }
        if let name = writes.idempotency { line(6, "idempotency: \(YAMLText.scalar(name))") }
        comments(writes.remarks, indent: 6)
    }
}

// The report of `tarn sync --offline`: the state of each endpoint, read from the store.

import Tarn

enum OfflineReport {
    /// Prints a line for each endpoint.
    ///
    /// - Throws: `Failure` with `.noNetwork` if an endpoint was never scanned to its end.
    static func print(_ endpoints: [EndpointStatus], isQuiet: Bool) throws {
        for endpoint in endpoints where !isQuiet {
            var text = "\(endpoint.name): "
            if let completed = endpoint.completedAt {
                text += "complete as of \(completed)"
            } else if endpoint.completeLists > 0 {
                text += "\(endpoint.completeLists) of \(countText(endpoint.lists, "list")) complete"
            } else {
                text += "never complete"
            }
            if let unfinished = endpoint.unfinished {
                text +=
                    "; unfinished since \(unfinished.startedAt): \(countText(unfinished.pages, "page")), "
                    + countText(unfinished.records, "record")
            }
            if let failure = endpoint.failure { text += "; last failure at \(failure.at): \(failure.message)" }
            Output.line(text)
        }
        Output.flush()
        let names = endpoints.filter { $0.completedAt == nil && $0.lists > 0 }.map(\.name)
        guard names.isEmpty else {
            throw Failure(.noNetwork, "offline: never completely synced: \(names.joined(separator: ", "))")
        }
    }
}

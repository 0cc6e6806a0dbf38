// A list that grows behind its last page, whose body stays the same then.

import Foundation
import Synchronization
import Tarn

/// Pages of three items. The tag covers the body, and a 304 has no other field than it.
final class GrowingList: Sendable {
    let count = Mutex(6)
    let log = Mutex([String]())
    let cursorField: String?

    init(cursorField: String?) { self.cursorField = cursorField }

    var transport: ClosureTransport {
        ClosureTransport { [self] request in
            let values = URLComponents(string: request.url)?.queryItems ?? []
            let start = values.first { $0.name == "after" }?.value.flatMap { Int($0) } ?? 0
            let count = count.withLock(\.self), end = min(start + 3, count)
            let body = "[" + (start..<end).map { #"{"id":\#($0),"name":"n"}"# }.joined(separator: ",") + "]"
            let tag = "\"\(start)-\(end)\""
            log.withLock { $0.append("\(start)\(request.headers["If-None-Match"] == nil ? "" : "?")") }
            var headers = TransportHeaders()
            headers["ETag"] = tag
            if request.headers["If-None-Match"] == tag { return TransportResponse(status: 304, headers: headers) }
            if end < count {
                if let cursorField {
                    headers[cursorField] = "\(end)"
                } else {
                    headers["Link"] = "</v1/items?after=\(end)>; rel=next"
                }
            }
            return TransportResponse(status: 200, headers: headers, body: Array(body.utf8))
        }
    }
}

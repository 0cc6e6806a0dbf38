// One connection: its requests are answered in turn, as recorded or with a fault.

import TarnHTTP

struct Connection: Sendable {
    let socket: Socket
    let number: Int
    let library: RecordingLibrary
    let faults: FaultPlan
    let log: RequestLog
    let latency: Double

    /// Serves requests until the peer or a fault closes the connection.
    func serve() {
        var reader = RequestReader(socket: socket)
        while true {
            let request: ReceivedRequest
            do {
                guard let next = try reader.next() else { return socket.close() }
                request = next
            } catch {
                send(message(error.message, status: error.status), to: nil)
                return socket.close()
            }
            if latency > 0, !socket.wait(seconds: latency) { return socket.close() }
            let answer: Answer
            do throws(RecordingError) {
                let recorded = try library.answer(
                    method: request.method, target: request.target, headers: request.headers,
                    body: request.body.isEmpty ? nil : request.body)
                answer =
                    recorded.map(Answer.init)
                    ?? message("no recording of \(request.method) \(request.target)", status: 404)
            } catch {
                answer = message("\(error)", status: 500)
            }
            let continues: Bool
            if let fault = faults.next(for: request.target) {
                continues = misbehave(fault, request, answer)
            } else {
                // Before the response: a client that has read it finds the line in the log.
                write(request, status: answer.status)
                continues = send(answer, to: request)
            }
            if !continues || request.wantsClose || answer.closes { return socket.close() }
        }
    }

    /// Answers a request with a fault, and returns whether the connection stays open.
    private func misbehave(_ fault: Fault.Kind, _ request: ReceivedRequest, _ answer: Answer) -> Bool {
        switch fault {
        case .status(let status):
            write(request, status: status, fault)
            return send(message("injected fault", status: status), to: request)
        case .limit(let count, let seconds):
            let (left, reset) = faults.spend(count, seconds: seconds)
            var limited = left >= 0 ? answer : message("slow down", status: 429)
            limited.add("X-RateLimit-Remaining: \(max(0, left))")
            limited.add("X-RateLimit-Reset-After: \(reset)")
            if left < 0 { limited.add("Retry-After: \(reset)") }
            write(request, status: limited.status, fault)
            return send(limited, to: request)
        case .html:
            write(request, status: 200, fault)
            return send(Answer.html, to: request)
        case .stall(let seconds):
            write(request, status: answer.status, fault)
            return socket.wait(seconds: seconds) && send(answer, to: request)
        case .drip(let rate):
            write(request, status: answer.status, fault)
            return drip(answer, rate: rate)
        case .cut(let bytes):
            write(request, status: answer.status, fault)
            _ = socket.send(answer.head + answer.body.prefix(bytes))
            return false
        case .close:
            write(request, status: nil, fault)
            return false
        case .reset:
            write(request, status: nil, fault)
            socket.prepareReset()
            return false
        }
    }

    private func drip(_ answer: Answer, rate: Double) -> Bool {
        guard socket.send(answer.head) else { return false }
        let piece = max(1, Int(rate / 20))
        var rest = answer.body[...]
        while !rest.isEmpty {
            guard socket.send(rest.prefix(piece)), socket.wait(seconds: Double(piece) / rate) else { return false }
            rest = rest.dropFirst(piece)
        }
        return true
    }

    @discardableResult
    private func send(_ answer: Answer, to request: ReceivedRequest?) -> Bool {
        request?.method == "HEAD" ? socket.send(answer.head) : socket.send(answer.head + answer.body)
    }

    private func write(_ request: ReceivedRequest, status: Int?, _ fault: Fault.Kind? = nil) {
        var line = "\(request.method) \(request.target) \(status.map(String.init) ?? "-")"
        if request.headers["If-None-Match"] != nil || request.headers["If-Modified-Since"] != nil {
            line += " conditional"
        }
        if let fault { line += " fault=\(fault.name)" }
        log.append(line + " connection=\(number)\n")
    }

    private func message(_ text: String, status: Int) -> Answer {
        Answer(
            status: status, type: "application/json; charset=utf-8", body: "{\"message\":\"\(text.escapedForJSON)\"}\n")
    }
}

/// A response as bytes.
struct Answer {
    var status: Int
    var head: [UInt8]
    var body: [UInt8]
    /// The head declares that the connection closes.
    var closes = false

    init(_ recorded: RecordedAnswer) {
        status = recorded.status
        var text = recorded.statusLine + "\r\n"
        for line in recorded.fieldLines { text += line + "\r\n" }
        if let length = recorded.undeclaredLength { text += "Content-Length: \(length)\r\n" }
        head = Array((text + "\r\n").utf8)
        body = recorded.body
        closes = recorded.headers.all("Connection").contains { $0.lowercased() == "close" }
    }

    init(status: Int, type: String, body: String) {
        self.status = status
        let hasNoBody = status == 204 || status == 304
        self.body = hasNoBody ? [] : Array(body.utf8)
        let length = hasNoBody ? "" : "Content-Type: \(type)\r\nContent-Length: \(self.body.count)\r\n"
        head = Array("HTTP/1.1 \(status) \(Answer.reason(status))\r\n\(length)\r\n".utf8)
    }

    /// Adds a header line at the end of the head.
    mutating func add(_ line: String) {
        head = head.dropLast(2) + Array((line + "\r\n\r\n").utf8)
    }

    static let html = Answer(
        status: 200, type: "text/html; charset=utf-8",
        body: "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><p>Please sign in.</p></body></html>\n")

    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 429: "Too Many Requests"
        case 500: "Internal Server Error"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        default: "Status"
        }
    }
}

extension String {
    fileprivate var escapedForJSON: String {
        unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case _ where scalar.value < 0x20: text += " "
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}

// The command line of FixtureServer.

/// The options of the server.
struct Arguments: Sendable {
    var directory = ""
    var port: UInt16 = 0
    var portFile: String?
    var logFile: String?
    var faults: [Fault] = []
    /// The delay before every response, in seconds.
    var latency = 0.0
    var endsWithStandardInput = false

    static let usage = """
        USAGE: FixtureServer DIRECTORY [options]

        Serves the recorded responses (*.http) of a directory on 127.0.0.1, header fields in order and unchanged.
        Prints `listening on http://127.0.0.1:PORT` when it is ready; ends on SIGTERM and SIGINT.

        OPTIONS:
          --port N          port to listen on; 0, the default, lets the kernel choose
          --port-file FILE  writes the port there, in one step
          --log FILE        appends one line a request: METHOD TARGET STATUS [conditional] [fault=KIND] connection=N
                            (STATUS is - where no status was sent; N counts connections from 1)
          --latency MS      waits before every answer
          --fault SPEC      misbehaves (may be given several times; the first that applies is used)
          --until-eof       ends too when standard input does
          --help            this text

        FAULTS: PATTERN:KIND[:ARGUMENT][:from=N][:times=K]
          PATTERN is a part of the target; an empty one matches every request. Of the requests that match, the fault
          hits those from the N-th on (1), K of them (all).
          status:CODE       answers with this status and a JSON message
          stall:SECONDS     waits before the head
          drip:BYTES        sends the body at so many bytes a second
          cut:BYTES         sends the whole head, so many bytes of the body, and closes
          close             closes without an answer
          reset             resets the connection without an answer
          limit:N/SECONDS   answers N requests in so many seconds, and others with 429 and Retry-After; says what is left
          html              answers 200 with an HTML page

        EXAMPLES:
          FixtureServer fixtures/forge/responses --port 8080
          FixtureServer responses --fault 'page=3:cut:1000:times=1' --fault ':status:503:from=10'
        """

    /// Parses the command line.
    ///
    /// - Throws: `UsageError`.
    init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        func value(of option: String) throws(UsageError) -> String {
            guard let value = rest.popFirst() else { throw UsageError("\(option) needs a value") }
            return value
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--port":
                let text = try value(of: argument)
                guard let port = UInt16(text) else { throw UsageError("--port \(text): expected 0 to 65535") }
                self.port = port
            case "--port-file": portFile = try value(of: argument)
            case "--log": logFile = try value(of: argument)
            case "--latency":
                let text = try value(of: argument)
                guard let milliseconds = Double(text), milliseconds >= 0, milliseconds <= 3_600_000 else {
                    throw UsageError("--latency \(text): expected milliseconds")
                }
                latency = milliseconds / 1000
            case "--fault": faults.append(try Fault(try value(of: argument)))
            case "--until-eof": endsWithStandardInput = true
            case _ where argument.hasPrefix("-"): throw UsageError("unknown option \(argument)")
            case _ where directory.isEmpty: directory = argument
            default: throw UsageError("one directory only: what is \(argument)?")
            }
        }
        if directory.isEmpty { throw UsageError("the directory of recordings is missing") }
    }
}

/// An error in the command line.
struct UsageError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}

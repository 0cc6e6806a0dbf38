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

        Serves the recorded responses (*.http) of a directory on 127.0.0.1, with unchanged header fields in their order.
        Prints `listening on http://127.0.0.1:PORT` when it is ready; stops on SIGTERM and SIGINT.

        OPTIONS:
          --port N          port to listen on (default: 0, which selects a free port)
          --port-file FILE  write the port to this file, atomically
          --log FILE        append one line per request: METHOD TARGET STATUS [conditional] [fault=KIND] connection=N
                            (STATUS is - if no status was sent; N counts connections from 1)
          --latency MS      delay before every response, in milliseconds
          --fault SPEC      inject a fault (may be repeated; the first matching fault is used)
          --until-eof       stop when standard input ends, too
          --help            show this text

        FAULTS: PATTERN:KIND[:ARGUMENT][:from=N][:times=K]
          PATTERN is a part of the request target; an empty one matches every request. The fault applies to
          K matching requests (default: all), starting with the N-th (default: 1).
          status:CODE       respond with this status and a JSON message
          stall:SECONDS     wait before the head
          drip:BYTES        send the body at this rate, in bytes per second
          cut:BYTES         send the head and this many bytes of the body, then close
          close             close the connection without a response
          reset             reset the connection without a response
          limit:N/SECONDS   allow N requests per SECONDS, respond to others with 429 and Retry-After; report the rest
          html              respond with 200 and an HTML page

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
            default: throw UsageError("unexpected argument \(argument): only one directory is allowed")
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

// The meaning of the exit codes, for `tarn help exit-codes`.

extension Failure.Code {
    /// The meaning of the exit code, and the next step, in one line.
    var meaning: String {
        switch self {
        case .failed: "Failed: a record that is not there, a server error, an output that cannot be written."
        case .usage: "Usage: a wrong argument, option, condition or name, or a problem in the description."
        case .partly: "Partial success: something failed or was left out, and is named; the rest is committed."
        case .credentials:
            "Credentials: missing, or refused by the server (401, 403). `tarn login` signs in, if the API has a sign-in."
        case .noNetwork: "No network: the server cannot be reached, and nothing in the store may be used."
        case .store: "Store: there is none, it cannot be opened or locked, refuses the schema, is full or damaged."
        case .limited: "Rate limit: the server's limit is used up. Run it again after the time that is shown."
        case .busy: "Busy: another process syncs the same endpoints, or sends the outbox. `tarn sync --wait` waits."
        case .changed: "Changed: the store changed while it was read without locks. Run it again."
        case .interrupted: "Interrupted by a signal."
        }
    }
}

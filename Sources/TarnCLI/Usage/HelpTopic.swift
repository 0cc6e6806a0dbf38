// Help pages that are about no command: `tarn help exit-codes`.

/// A page of `tarn help` beside those of the commands.
enum HelpTopic: String, CaseIterable {
    case exitCodes = "exit-codes"
    case environment

    /// The lines of the page.
    var text: String {
        switch self {
        case .exitCodes: HelpTopic.exitCodesText
        case .environment: HelpTopic.environmentText
        }
    }

    private static var exitCodesText: String {
        var lines = ["Exit codes of every command:", ""]
        for code in Failure.Code.allCases where code != .interrupted {
            lines.append(row("\(code.rawValue)", code.meaning))
        }
        lines.insert(row("0", "Done."), at: 2)
        lines.append(row("129", "Interrupted by SIGHUP."))
        lines.append(row("130", "Interrupted by SIGINT (Ctrl-C). Committed pages stay; the next sync resumes."))
        lines.append(row("131", "Ended at once by SIGQUIT (Ctrl-\\)."))
        lines.append(row("141", "The reader of the output has ended, such as `head`: SIGPIPE."))
        lines.append(row("143", "Interrupted by SIGTERM."))
        lines.append("")
        lines.append("`tarn proxy` ends its requests at SIGINT, SIGTERM and SIGHUP, and exits with 0.")
        return lines.joined(separator: "\n")
    }

    private static func row(_ code: String, _ meaning: String) -> String {
        "  " + code + String(repeating: " ", count: max(1, 5 - code.utf8.count)) + " " + meaning
    }

    private static let environmentText = """
        Environment variables:

          COLUMNS            Width of help pages and tables.
          TARN_PAGER, PAGER  Pager of long output on a terminal (default: less); empty or cat for none.
          LESS               Options of less (default: FX).
          NO_COLOR           If not empty, no colours.
          CLICOLOR           If 0, no colours.
          CLICOLOR_FORCE     If not empty and not 0, colours also without a terminal.
          TARN_PROGRESS_SECONDS
                             Seconds between lines of progress without a terminal (default: 5; 0 for none).
          TARN_SNAPSHOT_SECONDS
                             Age from which `tarn inspect` reports a snapshot that holds up writers (default: 5; 0 for \
        never).
          TARN_HISTORY       History of `tarn inspect shell` (default: tarn/inspect-history in XDG_STATE_HOME, or in \
        ~/.local/state); empty for none.
          XDG_STATE_HOME     Folder of the logins of `tarn login`, in tarn/logins (default: ~/.local/state).
          TERM               If dumb: no colours, no pager, no editing of lines, and progress in plain lines. If not \
        set: no pager.
          TZ                 Time zone of --local.
          TMPDIR             Folder of temporary files (default: /tmp): of `tarn init`, of checks and dry runs, and of \
        imports of many records.
          http_proxy, https_proxy, all_proxy, no_proxy
                             Proxies, as libcurl reads them. User and password are percent-encoded.

        A description names the variables of its credentials itself: auth: { bearer: { env: NAME } }.
        """
}

/// The result of one examination by `tarn doctor`.
package struct DoctorFinding: Sendable, Hashable {
    /// The subject of an examination. The raw values are stable.
    package enum Subject: String, Sendable, Hashable, CaseIterable {
        case versions
        case description
        case fileSystem = "file_system"
        case space
        case store
        case quickCheck = "quick_check"
        case processes
        case credentials
        case server
        case clock
    }

    /// The verdict of an examination.
    package enum Verdict: String, Sendable, Hashable, CaseIterable {
        case ok
        case warn
        case fail
    }

    package var subject: Subject
    package var verdict: Verdict
    /// The finding. It never contains a secret.
    package var text: String
    /// The way out; nil if there is nothing to do.
    package var remedy: String?

    init(_ subject: Subject, _ verdict: Verdict, _ text: String, remedy: String? = nil) {
        self.subject = subject
        self.verdict = verdict
        self.text = text
        self.remedy = remedy
    }
}

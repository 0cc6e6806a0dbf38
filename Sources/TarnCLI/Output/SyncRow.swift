// The line of an active endpoint.

import Foundation
import Tarn

struct SyncRow {
    private(set) var progress: SyncProgress
    private let began = ContinuousClock.now
    /// The pause before the endpoint's next request.
    var wait: RequestWait?

    init(_ progress: SyncProgress) { self.progress = progress }

    mutating func update(_ progress: SyncProgress) {
        self.progress = progress
        // A page has arrived: the pause is over.
        if case .page = progress.event { wait = nil }
    }

    private var seconds: Double {
        let parts = (ContinuousClock.now - began).components
        return Double(parts.seconds) + Double(parts.attoseconds) / 1e18
    }

    /// The line for a terminal.
    func line(nameColumns width: Int) -> StyledText {
        let name = VisibleText.cut(VisibleText.line(progress.endpoint), columns: width)
        let padding = String(repeating: " ", count: max(0, width - VisibleText.columns(of: name)))
        var line = StyledText(name + padding, .bold)
        line.add("  " + facts.joined(separator: ", "))
        if progress.failures > 0 { line.add("  \(countText(progress.failures, "failure"))", .red) }
        if let waiting {
            line.add("  " + waiting, .yellow)
        } else if let left {
            line.add("  " + left, .green)
        } else if progress.pages == 0, let url = progress.requesting {
            line.add("  … \(url)", .faint)
        }
        return line
    }

    /// The line for logs.
    var plainLine: String {
        "\(progress.endpoint): \((facts + [waiting ?? left].compactMap(\.self)).joined(separator: ", "))"
    }

    /// The pause, or the attempt after it; nil without any.
    private var waiting: String? {
        guard let wait else { return nil }
        let seconds = wait.until.timeIntervalSinceNow
        return seconds > 0 ? wait.countdown(seconds: seconds) : wait.attemptText
    }

    /// The facts in the order of their importance: a narrow terminal cuts the last ones.
    private var facts: [String] {
        let progress = progress
        var facts: [String] = []
        if progress.lists > 1 { facts.append("\(progress.listsDone)/\(progress.lists) lists") }
        let pages = progress.pages + progress.resumedPages
        facts.append(progress.expectedPages.map { "\(pages)/\($0) pages" } ?? countText(pages, "page"))
        if progress.notModified > 0 { facts.append("\(progress.notModified) not modified") }
        let records = progress.listed + progress.resumedRecords
        // Of several lists in a response, a total counts the first one, and the records are of all.
        let total = progress.countedPart < 1 ? nil : progress.expectedRecords
        facts.append(total.map { "\(records)/\($0) records" } ?? countText(records, "record"))
        let changes = [
            (progress.created, "new"), (progress.updated, "changed"), (progress.unchanged + progress.confirmed, "same"),
            (progress.deleted, "deleted"),
        ].filter { $0.0 > 0 }
        if !changes.isEmpty { facts.append(changes.map { "\($0.0) \($0.1)" }.joined(separator: " ")) }
        let seconds = seconds
        if seconds > 1, progress.listed > 0 { facts.append("\(Int(Double(progress.listed) / seconds))/s") }
        if progress.bytes > 0 { facts.append(byteText(progress.bytes)) }
        return facts
    }

    /// The estimated time that is left; nil if the total is unknown, and in the first second.
    private var left: String? {
        let seconds = seconds
        guard seconds > 1, let fraction = progress.fraction, let before = progress.resumedFraction,
            fraction > before, fraction < 1
        else { return nil }
        let left = seconds * (1 - fraction) / (fraction - before)
        guard left < 360_000 else { return nil }
        let whole = Int(left.rounded(.up))
        let text = whole < 3600 ? "\(whole / 60):" : "\(whole / 3600):\(SyncRow.digits(whole / 60 % 60)):"
        return text + SyncRow.digits(whole % 60) + " left"
    }

    private static func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

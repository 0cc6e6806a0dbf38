// The damage that a command of the inspector meets.

import TarnInspect

/// Reports damage on standard error as it is found, and counts it.
final class DamageReport {
    private let store: String
    private let meter: ProgressMeter?
    private var rows = 0, pages = 0

    init(_ store: String, _ meter: ProgressMeter? = nil) {
        self.store = store
        self.meter = meter
    }

    func add(_ damage: StoreInspector.Damage) {
        if damage.isOfPages { pages += damage.count } else { rows += damage.count }
        meter?.clear()
        Output.error("\(store): \(damage)")
    }

    /// Ends the command with the exit code 6 if anything was damaged.
    ///
    /// - Parameter verb: What was done with the rest.
    func end(_ verb: String) throws {
        guard rows + pages > 0 else { return }
        let damagedRows = countText(rows, "damaged row")
        throw Failure(
            .store,
            pages == 0
                ? "\(damagedRows); all others were \(verb)"
                : "\(damagedRows) and \(countText(pages, "page fault")); the readable records were \(verb)")
    }
}

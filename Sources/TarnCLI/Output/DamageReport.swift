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
        if damage.isOfPages { pages += 1 } else { rows += 1 }
        meter?.clear()
        Output.error("\(store): \(damage)")
    }

    /// Fails if there was damage.
    func check() throws {
        guard rows + pages > 0 else { return }
        let counts = [
            rows > 0 ? countText(rows, "damaged row") : nil, pages > 0 ? countText(pages, "page fault") : nil,
        ]
        throw Failure(
            .store, counts.compactMap(\.self).joined(separator: " and ") + "; only the readable parts were used")
    }
}

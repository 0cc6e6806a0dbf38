/// A progress count on a terminal, updated at most ten times a second.
final class ProgressMeter {
    private let isShown: Bool
    private var last = ContinuousClock.now - .seconds(1)
    private var isOpen = false

    init(isShown: Bool) { self.isShown = isShown }

    func show(_ done: Int, of total: Int, _ what: String) {
        guard isShown, ContinuousClock.now - last > .milliseconds(100) else { return }
        last = ContinuousClock.now
        isOpen = true
        Output.progress("\(done) of \(total) \(what)")
    }

    func clear() {
        if isOpen { Output.progress("") }
        isOpen = false
    }
}

import TarnInspect

extension Failure {
    /// The refusal of a command that must not change a store with damaged pages.
    init(damagedPages finding: Finding, of store: String) {
        self.init(
            .store,
            "\(store): pages of the file are damaged (\(finding.place): \(finding.detail)); "
                + "nothing was changed. Bring the readable records into a new store: `tarn inspect salvage \(store) NEW`"
        )
    }
}

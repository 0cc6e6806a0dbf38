// Signals that damaged pages of a store cause, as errors with a message and an exit code.

import CFaults

enum DamagedPages {
    /// Ends the program with a message and the exit code of damaged stores if a damaged page leads
    /// to a signal.
    ///
    /// Only for the program: a library leaves the signals of a process alone. The inspector reads
    /// pages without the map. Every other command reads through liblmdb, which does not check them.
    /// Signals with other causes keep their effect.
    ///
    /// It gives the calling thread a separate stack for the handlers. Commands that are not
    /// asynchronous run on this thread. They are the ones that copy stores, and a loop of pages
    /// fills the stack there.
    static func reportSignals() {
        tarn_handle_damaged_pages(Failure.Code.store.rawValue, Output.errorIsDrawable)
    }
}

public import Observation
public import TarnStore

/// The current records of a query or a request, for code that observes properties.
///
/// ```swift
/// let issues = ObservedRecords(forge.answers(.issues("acme/anvil"), local: open))
/// withObservationTracking {
///     render(issues.records, isBusy: issues.isLoading, problem: issues.error)
/// } onChange: {
///     setNeedsRender()
/// }
/// ```
///
/// It belongs to the actor that creates it, the main actor or another one. Its properties change
/// there. It ends when it is released: nothing is observed then, and a transfer is cancelled.
@Observable
public final class ObservedRecords<Element: Sendable> {
    /// The newest records; empty until the first result.
    public private(set) var records: [Element] = []
    /// The last failure of the server, while its records are those that the store keeps; or the
    /// error that has ended the observation.
    public private(set) var error: (any Error)?
    /// Whether the first result is awaited, or the answer of the server.
    public private(set) var isLoading = true
    @ObservationIgnored private var task: Task<Void, Never>?

    /// Creates the records of an observation.
    ///
    /// - Parameters:
    ///   - observation: the observation of a query: `store.observe(open.include(\.author))`.
    ///   - isolation: the actor of the caller.
    public init(_ observation: StoreObservation<[Element]>, isolation: isolated any Actor = #isolation) {
        task = Task { [weak self] in
            _ = isolation
            do {
                for try await result in observation {
                    guard let self else { return }
                    set(result.value, isLoading: false)
                }
            } catch {
                self?.end(error)
            }
        }
    }

    /// Creates the records of a request's answers.
    ///
    /// - Parameters:
    ///   - answers: the answers of ``RecordClient``: `forge.answers(.issues("acme/anvil"))`.
    ///   - isolation: the actor of the caller.
    public init(
        _ answers: some AsyncSequence<RequestAnswer<Element>, any Error> & Sendable,
        isolation: isolated any Actor = #isolation
    ) {
        let source = answers as? any FetchingAnswers
        task = Task { [weak self] in
            _ = isolation
            do {
                for try await answer in answers {
                    guard let self else { return }
                    var failure: (any Error)?, isLoading = false
                    switch answer {
                    case .local(let records): isLoading = source?.asksServer(isEmpty: records.isEmpty) ?? false
                    case .remote: break
                    case .failed(let error, kept: _): failure = error
                    case .changed: failure = error
                    }
                    set(answer.records, isLoading: isLoading, failure)
                }
            } catch {
                self?.end(error)
            }
        }
    }

    deinit { task?.cancel() }

    private func set(_ records: [Element], isLoading: Bool, _ error: (any Error)? = nil) {
        self.records = records
        // A property that is set notifies, also if it is the same.
        if self.isLoading != isLoading { self.isLoading = isLoading }
        if self.error != nil || error != nil { self.error = error }
    }

    private func end(_ error: any Error) {
        self.error = error
        isLoading = false
    }
}

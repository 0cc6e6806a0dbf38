internal import LMDB

/// How long changes are kept. A change goes when it is too old or when the log is too large, whichever comes first.
public struct ChangeRetention: Sendable, Hashable {
    /// How old a change may become; nil for any age. It goes with a commit that comes after it, and may live longer by a 64th.
    public var age: Duration?
    /// Which part of the file the log may have, from 0 to 1; nil for any. A file is taken to have 80 MiB at least, or what the
    /// quota allows, if that is less.
    public var share: Double?

    public init(age: Duration?, share: Double?) {
        self.age = age
        self.share = share
    }

    /// 7 days or 10 %: what a store has as long as nothing else was set.
    public static let standard = ChangeRetention(age: .seconds(7 * 86400), share: 0.1)
    /// Every change, for ever.
    public static let all = ChangeRetention(age: nil, share: nil)
    /// No change at all: no log is written, and observers evaluate again after every commit.
    public static let nothing = ChangeRetention(age: .zero, share: 0)

    var microseconds: Int64? { age.map { Int64($0 / .microseconds(1)) } }

    func check() throws(StoreError) {
        if let age, age < .zero || age > .seconds(1 << 40) {
            throw .retentionOutOfRange(detail: "changes cannot be kept for \(age); say a time from 0 seconds on, or nil for ever")
        }
        if let share, !(0...1).contains(share) {
            throw .retentionOutOfRange(detail: "\(share) is no part of a store; say a number from 0 to 1, or nil for any size")
        }
    }
}

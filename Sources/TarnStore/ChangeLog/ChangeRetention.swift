/// The retention of changes: a change is trimmed if it is too old, or if the log is too large.
public struct ChangeRetention: Sendable, Hashable {
    /// The maximum age of a change; nil for no limit.
    ///
    /// A later commit trims the change. It may stay longer by a 64th of the age.
    public var age: Duration?
    /// The maximum share of the log in the file, from 0 to 1; nil for no limit.
    ///
    /// The file counts as at least 80 MiB, or the quota if that is less.
    public var share: Double?

    /// Creates a retention.
    public init(age: Duration?, share: Double?) {
        self.age = age
        self.share = share
    }

    /// The default: 7 days or 10 % of the file.
    public static let standard = ChangeRetention(age: .seconds(7 * 86400), share: 0.1)
    /// Unlimited retention.
    public static let all = ChangeRetention(age: nil, share: nil)
    /// No retention: no log is written, and observers evaluate after every commit.
    public static let nothing = ChangeRetention(age: .zero, share: 0)

    var microseconds: Int64? { age.map { Int64($0 / .microseconds(1)) } }

    func check() throws(ChangeLogError) {
        if let age, age < .zero || age > .seconds(1 << 40) {
            throw .retentionOutOfRange(
                detail: "invalid retention of \(age); use at least 0 seconds, or nil for unlimited")
        }
        if let share, !(0...1).contains(share) {
            throw .retentionOutOfRange(
                detail: "invalid share \(share); use a number from 0 to 1, or nil for unlimited")
        }
    }
}

// Lists inside of records that have a part of what the server has.

import Tarn

/// A list inside of records, some of which have more elements than it shows:
/// `{"comments": {"total": 13, "comments": […]}}`, `{"refunds": {"data": […], "has_more": true}}`,
/// or `comments_count: 13`.
struct PartialList: Equatable {
    private static let recordLimit = 200
    private static let depthLimit = 4
    private static let memberLimit = 100

    var path: [String]
    /// The sign in words.
    var sign: String

    /// The remark for the endpoint.
    var remark: String {
        "\(PartialList.start(path)) (\(sign)): the rest is not synced. If the server has this list for each record, describe it by `for_each`."
    }

    /// The beginning of the remarks about the list at a path.
    private static func start(_ path: [String]) -> String {
        "`\(YAMLText.comment(JSONPath(keys: path).description, limit: 60))` inside of a record is a part of its list"
    }

    /// Returns the remark in place of one about a list that an endpoint requests as a whole; nil if
    /// it is about something else.
    static func remark(_ remark: String, ofOneOf paths: [[String]], requestedBy endpoint: String) -> String? {
        paths.map(start).first { remark.hasPrefix($0) }.map { "\($0): the endpoint \(endpoint) requests all of it." }
    }

    /// Returns the lists of records that are parts, each with its first sign.
    static func find(in records: [JSONValue]) -> [PartialList] {
        var found: [PartialList] = []
        for record in records.prefix(recordLimit) { find(record, [], &found) }
        return found
    }

    private static func find(_ json: JSONValue, _ keys: [String], _ found: inout [PartialList]) {
        guard case .object(let members) = json, keys.count < depthLimit, found.count < 8 else { return }
        for member in members.prefix(memberLimit) {
            let path = keys + [member.key]
            guard case .array(let elements) = member.value else {
                find(member.value, path, &found)
                continue
            }
            guard !elements.isEmpty, elements.allSatisfy(\.isObject), !found.contains(where: { $0.path == path }),
                let sign = counted(member.key, elements.count, members)
                    ?? (keys.isEmpty ? nil : enveloped(elements.count, json))
            else { continue }
            found.append(PartialList(path: path, sign: sign))
        }
    }

    /// Returns the member that counts the elements of a list beside it, if there are more.
    private static func counted(_ name: String, _ count: Int, _ members: [JSONValue.Member]) -> String? {
        let list = EnglishName.singularWords(of: name)
        return members.first { member in
            let words = EnglishName.words(of: member.key).filter { !["of", "the"].contains($0) }
            guard words.count == list.count + 1, let number = Int(member.value.scalarText ?? ""), number > count else {
                return false
            }
            let isCount = ["count", "total"].contains(words.last ?? "")
            guard isCount || ["num", "number", "total", "count", "n"].contains(words[0]) else { return false }
            let rest = isCount ? Array(words.dropLast()) : Array(words.dropFirst())
            return EnglishName.singularWords(of: rest.joined(separator: "_")) == list
        }.map { sign($0, count) }
    }

    /// Returns the member of the object around a list, or of an object beside it, that tells of
    /// more.
    private static func enveloped(_ count: Int, _ object: JSONValue) -> String? {
        let inner = object.members.filter { $0.value.isObject }.map(\.value)
        for member in ([object] + inner).flatMap(\.members) {
            if PageEvidence.isMore(member.key), member.value == .bool(true) { return sign(member, count) }
            if isTotal(member.key), let total = Int(member.value.scalarText ?? ""), total > count {
                return sign(member, count)
            }
        }
        return nil
    }

    /// Whether a member may count the elements of a list.
    static func isTotal(_ name: String) -> Bool {
        PageEvidence.isTotal(name) || ["count", "size", "length"].contains(name.lowercased())
    }

    private static func sign(_ member: JSONValue.Member, _ count: Int) -> String {
        let value = member.value == .bool(true) ? "true" : member.value.scalarText ?? ""
        return
            "\(YAMLText.comment(member.key, limit: 40)) is \(YAMLText.comment(value, limit: 20)), and \(count == 1 ? "1 element is" : "\(count) elements are") there"
    }
}

import Tarn

/// A place of the samples with objects that are records.
final class Place {
    /// The position among the places.
    let index: Int
    /// The position of the source, of a place that an endpoint lists.
    let source: Int?
    /// The place whose records contain these; nil for listed ones.
    let owner: Int?
    /// The keys from the enclosing record.
    let keys: [String]
    let isList: Bool
    /// The name of the list, or the key of the objects.
    let name: String
    let shape: ObjectShape
    let key: KeyGuess
    /// The form of the records' own URLs, of a list that has such.
    var urlForm: URLForm?
    /// The list whose URLs these objects have instead of a key.
    var urlTarget: Int?
    /// The list whose records have the type that these identifiers name.
    var typeTarget: Int?
    /// The list whose records these objects are, if a value of theirs says so.
    var target: Int? { urlTarget ?? typeTarget }

    /// The words of the schema's name that tell the entity; empty without a schema.
    private(set) lazy var subject = shape.schemaName.map { EntityNames.subject(ofSchema: $0) } ?? []

    /// The objects by the text of their key, for comparisons between places.
    private(set) lazy var objects: [ExactText: JSONValue] = {
        var objects: [ExactText: JSONValue] = [:]
        if key.isByURL, let urlForm {
            for sample in shape.samples.prefix(5000) {
                guard let text = sample.value(at: urlForm.field)?.scalarText, let key = urlForm.key(in: text) else {
                    continue
                }
                if objects[ExactText(key)] == nil { objects[ExactText(key)] = sample }
            }
            return objects
        }
        guard key.fields.count == 1, let field = key.fields.first else { return objects }
        for sample in shape.samples.prefix(5000) {
            guard let text = sample[field]?.keyText.map({ ExactText($0) }), objects[text] == nil else { continue }
            objects[text] = sample
        }
        return objects
    }()

    init(index: Int, source: Int?, at location: Location, _ shape: ObjectShape, _ key: KeyGuess) {
        self.index = index
        self.source = source
        owner = location.owner
        keys = location.keys
        isList = location.isList
        name = location.name
        self.shape = shape
        self.key = key
    }

    /// The location of a place.
    struct Location {
        var owner: Int?
        var keys: [String] = []
        var isList = true
        var name: String
    }

    /// Whether an endpoint lists the records.
    var isListed: Bool { owner == nil }
}

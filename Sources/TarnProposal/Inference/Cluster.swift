// The objects of all places of one entity: their shape, their key, and what shares a key.

import Tarn

/// The places whose objects are records of one entity.
final class Cluster {
    let index: Int
    let places: [Place]
    /// The places that define the entity: lists of endpoints, or the one with the most fields.
    let main: [Place]
    /// The shape of all objects.
    let shape: ObjectShape
    /// The shape of the objects of the main places.
    let mainShape: ObjectShape
    let key: KeyGuess
    var name = ""
    /// The form of the URLs of the records.
    let urlForm: URLForm?

    init(index: Int, _ places: [Place]) {
        self.index = index
        self.places = places
        let listed = places.filter(\.isListed)
        let fullest = places.map(\.shape.names.count).max() ?? 0
        // Objects with nearly as many fields as the fullest ones are full records, too.
        main = listed.isEmpty ? places.filter { $0.shape.names.count * 10 >= fullest * 8 } : listed
        key = (main.first ?? places[0]).key
        urlForm = places.lazy.compactMap(\.urlForm).first
        mainShape = Cluster.merged(main)
        shape = main.count == places.count ? mainShape : Cluster.merged(places)
    }

    private static func merged(_ places: [Place]) -> ObjectShape {
        if places.count == 1 { return places[0].shape }
        let shape = ObjectShape()
        for place in places {
            for sample in place.shape.samples { shape.add(sample) }
        }
        for place in places { shape.addDeclarations(of: place.shape) }
        shape.isTable = places.allSatisfy(\.shape.isTable)
        // The records are rows at every place, or at none of them.
        if let columns = places.first?.shape.columns, places.allSatisfy({ $0.shape.columns == columns }) {
            shape.columns = columns
        }
        return shape
    }

    /// The maximum number of samples whose keys are compared.
    private static let comparisonLimit = 5000

    /// Compares the samples that share a key: a store has one record for them.
    ///
    /// - Parameter ignored: fields that no attribute keeps.
    func consistency(except ignored: Set<String>) -> KeyConsistency {
        KeyConsistency(groups(shape).values, except: ignored.union(key.fields))
    }

    /// Compares the samples that share a key in a list of an endpoint, in all of their fields.
    ///
    /// - Parameter ignored: fields that no attribute keeps.
    func listConsistency(except ignored: Set<String>) -> KeyConsistency {
        let lists = places.filter(\.isListed).flatMap { groups($0.shape).values }
        let parts = key.isByURL ? Array(urlForm?.field.prefix(1) ?? []) : key.fields
        return KeyConsistency(lists, except: ignored.union(parts), comparesAll: true)
    }

    /// Returns the samples of a shape by their keys.
    private func groups(_ shape: ObjectShape) -> [[ExactText]: [JSONValue]] {
        var groups: [[ExactText]: [JSONValue]] = [:]
        for sample in shape.samples.prefix(Cluster.comparisonLimit) {
            let texts = texts(ofKey: sample)
            if !texts.isEmpty { groups[texts, default: []].append(sample) }
        }
        return groups
    }

    /// Returns the texts of a sample's key; empty if a part is missing.
    private func texts(ofKey sample: JSONValue) -> [ExactText] {
        guard key.isByURL else {
            let texts = key.fields.compactMap { sample[$0]?.keyText.map { ExactText($0) } }
            return texts.count == key.fields.count ? texts : []
        }
        guard let form = urlForm, let url = sample.value(at: form.field)?.scalarText else { return [] }
        return form.key(in: url).map { [ExactText($0)] } ?? []
    }

    // MARK: Keys of URLs

    /// Whether each `id` of the main places is the last segment of the record's URL.
    ///
    /// Otherwise an attribute with this name would be the `id`, and not the key in the URL.
    func hasIDsOfURLs(_ form: URLForm) -> Bool {
        mainShape.samples.allSatisfy { sample in
            guard let id = sample["id"]?.keyText, let url = sample.value(at: form.field)?.scalarText,
                let key = form.key(in: url)
            else { return true }
            return id == key
        }
    }

    /// Returns the first of several names that no key of the JSON has; the last one otherwise.
    func freeName(among names: [String]) -> String {
        let naming = NamingConvention()
        return names.first { name in !naming.jsonKeys(for: name).contains { shape.fields[$0] != nil } }
            ?? names[names.count - 1]
    }
}

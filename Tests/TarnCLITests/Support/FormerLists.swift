// Two endpoints, of which one has a list for each record of the other.

/// The description of boxes, and of a list of items for each of them.
///
/// Both remove their orphans after one scan: the list of a box that is no longer listed becomes a
/// former one.
func formerListsYAML(_ base: String) -> String {
    """
    store: s.tarn
    api: { base: '\(base)' }
    entities:
      Box: { key: id, attributes: { id: int } }
      Item: { key: id, attributes: { id: int }, relationships: { box: Box } }
    endpoints:
      boxes: { path: /boxes, entity: Box, paginate: single_page, orphans: after_one_scan }
      items:
        path: '/boxes/{box.id}/items'
        for_each: { entity: Box, parent: box }
        entity: Item
        paginate: single_page
        orphans: after_one_scan
    """
}

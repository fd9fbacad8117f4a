/**
 * The one folding of `$q` (D7): each code point in Unicode lower case, regardless of its neighbours,
 * so that a capital sigma matches at the end of a word as well.
 */
export function searchText(text: string): string {
  return text.replaceAll('Σ', 'σ').toLowerCase()
}

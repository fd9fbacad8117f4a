/**
 * Returns the folded form of a string for `$q`: each code point in Unicode lower case. A capital sigma
 * folds to the same letter in every position of a word.
 */
export function searchText(text: string): string {
  return text.replaceAll('Σ', 'σ').toLowerCase()
}

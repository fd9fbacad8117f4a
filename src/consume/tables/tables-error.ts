/** Why a response can't be read as tables. */
export type TablesErrorCode =
  /** Objects and arrays are nested deeper than `maxDepth`, or the parts of a schema are too deep to be described. */
  | 'TOO_DEEP'
  /** There are more rows than `maxRows`, or more elements than `maxElements`. */
  | 'TOO_MANY_ROWS'
  /** A table has more columns than `maxColumns`. */
  | 'TOO_MANY_COLUMNS'
  /** An element, or the whole body, has more bytes than allowed. */
  | 'TOO_LARGE'
  /** The arrays of an object that `zip` names have different lengths. */
  | 'UNEQUAL_LENGTHS'
  /** A value is not a JSON value, or the text is not JSON in UTF-8. */
  | 'NOT_JSON'
  /** The array that is read element by element is missing. */
  | 'ITEMS_MISSING'
  /** The array that is read element by element occurs more than once. */
  | 'ITEMS_REPEATED'

/** A response that can't be read as tables. Its message has keys of the response, and no values. */
export class TablesError extends Error {
  readonly code: TablesErrorCode
  /** The path of the table or column, with keys of the response; null if it is unknown. */
  readonly path: string | null

  constructor(code: TablesErrorCode, message: string, path: string | null = null) {
    super(message)
    this.name = 'TablesError'
    this.code = code
    this.path = path
  }
}

import type { PublishedField } from '../definition/published-field.ts'
import type { Column } from './model.ts'
import type { WantedIndex } from './wanted-indexes.ts'

/** What is different between an existing table of a collection and its definition. */
export type Difference =
  /** Its columns can't be read. */
  | { readonly is: 'unreadable'; readonly reason: string }
  /** The collection publishes writes, but rows are not written. */
  | { readonly is: 'unwritable'; readonly reason: string; readonly statement: string }
  | { readonly is: 'writtenView' }
  | { readonly is: 'missingColumn'; readonly field: PublishedField }
  /** The column does not keep every value of the field. */
  | OfColumn<'unfit'>
  /** The column has no default, which the field needs. */
  | {
      readonly is: 'noDefault'
      readonly field: PublishedField
      readonly column: Column | undefined
    }
  | OfColumn<'notNumbered'>
  /** Something else is wrong with the column, as the end of a sentence. */
  | (OfColumn<'unusable'> & { readonly reason: string })
  /** The value of the field in a new row can't be read. */
  | { readonly is: 'unreturned'; readonly field: PublishedField }
  /** The key, or a unique group of fields, has no unique index. */
  | { readonly is: 'noKeyIndex' | 'noUniqueIndex'; readonly index: WantedIndex }
  | { readonly is: 'nullInKey'; readonly column: Column }
  /** The search index is missing or has other fields, as the end of a sentence. */
  | { readonly is: 'noSearchIndex'; readonly reason: string }

interface OfColumn<Is extends string> {
  readonly is: Is
  readonly field: PublishedField
  readonly column: Column
}

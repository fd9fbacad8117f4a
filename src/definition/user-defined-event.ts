import type { ValidationEntry } from '../protocol/envelope.ts'
import type { CollectionAccess, FieldNameOf, HandlerContext } from './handler.ts'
import type { CollectionShape } from './item.ts'

/** The result of a user-defined event. A rejected one changed nothing. */
export type CustomResult<Result> =
  | {
      readonly rejected: false
      readonly result: Result
      readonly validations: readonly ValidationEntry[]
    }
  | {
      readonly rejected: true
      readonly message: string
      readonly validations: readonly ValidationEntry[]
    }

/** The context of a user-defined event, with access to its collection. */
export type CustomEvent<C extends CollectionShape> = HandlerContext<FieldNameOf<C>> & {
  readonly own: CollectionAccess<C>
}

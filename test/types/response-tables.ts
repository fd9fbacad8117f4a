// Checked by the compiler only: tables and columns follow from the type of a response.
import type {
  AncestorPath,
  ColumnsAt,
  DescendantPath,
  ParentPath,
  TablePath,
} from '../../src/consume/tables/response-types.ts'
import type { AnyColumns } from '../../src/consume/tables/table.ts'

type Same<A, B> = [A, B] extends [B, A] ? true : [A, 'is not', B]

/** Compiles only if its type argument is true. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- its constraint is the check
function expectTrue<_Fact extends true>(): void {
  // The compiler does everything.
}

interface Shipment {
  readonly id: string
  readonly carrier: { readonly name: string; readonly 'a/b~c': number } | null
  readonly note?: string
  readonly parcels: readonly {
    readonly tracking: string
    readonly weight: number | null
    readonly events?: readonly { readonly code: string }[]
    readonly size: { readonly cm: readonly number[] }
  }[]
  readonly tags: readonly (string | null)[]
}

expectTrue<Same<TablePath<Shipment>, 'parcels' | 'parcels/events' | 'parcels/size/cm' | 'tags'>>()
expectTrue<
  Same<
    ColumnsAt<Shipment, null>,
    {
      readonly id: string
      readonly carrier: null | undefined
      readonly 'carrier/name': string | undefined
      readonly 'carrier/a~1b~0c': number | undefined
      readonly note: string | undefined
    }
  >
>()
expectTrue<
  Same<
    ColumnsAt<Shipment, 'parcels'>,
    { readonly tracking: string; readonly weight: number | null }
  >
>()
expectTrue<Same<ColumnsAt<Shipment, 'tags'>, { readonly value: string | null }>>()
expectTrue<Same<ColumnsAt<Shipment, 'parcels/size/cm'>, { readonly value: number }>>()
expectTrue<Same<AncestorPath<Shipment, 'parcels/events'>, 'parcels'>>()
expectTrue<Same<ParentPath<Shipment, 'parcels/events'>, 'parcels'>>()
expectTrue<Same<ParentPath<Shipment, 'parcels'>, null>>()
expectTrue<Same<ParentPath<Shipment, null>, never>>()
expectTrue<Same<DescendantPath<Shipment, 'parcels'>, 'parcels/events' | 'parcels/size/cm'>>()

// A response that is an array: each element is a row of the root.
expectTrue<Same<TablePath<Shipment[]>, TablePath<Shipment>>>()
expectTrue<Same<ColumnsAt<{ readonly a: 1 }[], null>, { readonly a: 1 }>>()
expectTrue<Same<TablePath<number[][]>, 'value'>>()

// A member that not all objects of a union have may be absent.
type Pet = { kind: 'cat'; purrs: boolean } | { kind: 'dog'; barks: number }
expectTrue<
  Same<
    ColumnsAt<{ pets: (Pet | string)[] }, 'pets'>,
    {
      readonly kind: 'cat' | 'dog' | undefined
      readonly purrs: boolean | undefined
      readonly barks: number | undefined
      readonly value: string | undefined
    }
  >
>()
expectTrue<Same<ColumnsAt<Pet[], null>['kind'], 'cat' | 'dog'>>()

// A dictionary may be a table.
interface Rates {
  readonly base: string
  readonly rates: Readonly<Record<string, { readonly bid: number }>>
}
expectTrue<Same<TablePath<Rates>, 'rates'>>()
expectTrue<Same<ColumnsAt<Rates, 'rates'>, { readonly bid: number }>>()

// Recursive types are followed for a number of levels.
interface Comment {
  readonly text: string
  readonly replies: readonly Comment[]
}
const replies: TablePath<Comment> = 'replies/replies/replies'
expectTrue<Same<ColumnsAt<Comment, 'replies/replies'>, { readonly text: string }>>()
interface Node {
  readonly name: string
  readonly next: Node | null
}
const next: keyof ColumnsAt<Node, null> = 'next/next/next/name'

// Without a type, any path and column is accepted.
expectTrue<Same<TablePath<unknown>, string>>()
expectTrue<Same<ColumnsAt<unknown, 'a'>, AnyColumns>>()

// @ts-expect-error an unknown table
export const table: TablePath<Shipment> = 'parcel'
// @ts-expect-error an unknown column
export const column: keyof ColumnsAt<Shipment, 'parcels'> = 'wieght'
export { next, replies }

import fc from 'fast-check'
import type { ApplicationDefinition, CollectionDefinition } from '../../src/entries/index.ts'

/** A field of a random application: a type, and a form in which a column may hold its values. */
interface RandomType {
  readonly type: keyof typeof values
  readonly storedAs: string | undefined
}

/** A random application, with and without forms of columns. */
export interface RandomApplication {
  readonly names: readonly string[]
  readonly plain: ApplicationDefinition
  readonly inForms: ApplicationDefinition
  /** The types of the fields of each collection. */
  readonly types: Readonly<Record<string, Readonly<Record<string, RandomType>>>>
  readonly keys: Readonly<Record<string, readonly string[]>>
}

// A few values of each type, so that keys, references and duplicates meet.
const values = {
  integer: [1, 2, 3],
  bigint: ['1', '2', '9007199254740993'],
  text: ['a', 'A', 'é'],
  decimal: ['1.00', '2.50', '-3.10'],
  date: ['2024-02-29', '1969-12-31', '2000-01-01'],
  dateTime: ['2024-02-29T12:00:00', '1969-12-31T23:59:59.5', '2000-01-01T00:00:00'],
  instant: ['2024-02-29T12:00:00Z', '1969-12-31T23:59:59Z', '2000-01-01T00:00:00Z'],
  uuid: [
    '0d0c0b0a-0000-4000-8000-000000000001',
    '0d0c0b0a-0000-4000-8000-00000000000f',
    'ffffffff-ffff-4fff-bfff-ffffffffffff',
  ],
  boolean: [false, true, true],
} as const

const forms: Partial<Record<keyof typeof values, readonly string[]>> = {
  decimal: ['real'],
  date: ['YYYY-MM-DD hh:mm:ss', 'unixSeconds', 'unixMilliseconds'],
  dateTime: ['YYYY-MM-DD hh:mm:ss[.fff]', 'YYYY-MM-DD[ hh:mm:ss[.fff]]', 'unixMilliseconds'],
  instant: ['YYYY-MM-DD hh:mm:ss.fff', 'YYYY-MM-DDThh:mm:ssZ', 'unixSeconds'],
  uuid: ['hex', 'HEX', 'uppercase', 'blob'],
  boolean: ['Y/N', 'true/false'],
}

/** Returns one of the values of a type. */
export function valueOf({ type }: RandomType, index: number): string | number | boolean {
  return values[type][index % 3] as string | number | boolean
}

const randomType = fc.record({
  type: fc.constantFrom(...(Object.keys(values) as (keyof typeof values)[])),
  form: fc.nat(4),
})

const randomReference = fc.record({
  target: fc.nat(3),
  onDelete: fc.constantFrom('restrict', 'restrict', 'cascade', 'setNull'),
  // Which of its fields another reference or the key has as well.
  shared: fc.array(fc.boolean(), { minLength: 2, maxLength: 2 }),
  required: fc.nat(7),
  isOtherForm: fc.boolean(),
  isSelf: fc.nat(2),
})

const randomCollection = fc.record({
  key: fc.oneof(
    { weight: 3, arbitrary: fc.tuple(randomType) },
    { weight: 2, arbitrary: fc.tuple(randomType, randomType) },
  ),
  references: fc.array(randomReference, { maxLength: 3 }),
  uniqueCode: fc.boolean(),
  uniqueGroup: fc.boolean(),
  hasRows: fc.nat(3),
  hidesCode: fc.nat(3),
  hidesReference: fc.nat(5),
  isForChiefs: fc.nat(5),
})

type RandomCollection = typeof randomCollection extends fc.Arbitrary<infer Value> ? Value : never
type Declared = Record<string, Record<string, unknown> & { readonly type: keyof typeof values }>

/** Random applications of 2 to 4 collections that refer to each other. */
export const randomApplication: fc.Arbitrary<RandomApplication> = fc
  .array(randomCollection, { minLength: 2, maxLength: 4 })
  .map(applicationOf)

function applicationOf(collections: readonly RandomCollection[]): RandomApplication {
  const names = collections.map((_, index) => ['a', 'b', 'c', 'd'][index] as string)
  const declared = collections.map((collection, index) =>
    declare(collections, names, collection, index),
  )
  const definitionOf = (inForms: boolean): ApplicationDefinition => ({
    collections: Object.fromEntries<CollectionDefinition>(
      declared.map(({ fields, ...rest }, index): [string, CollectionDefinition] => [
        names[index] as string,
        {
          ...rest,
          fields: Object.fromEntries(
            Object.entries(fields).map(([name, { storedAs, ...field }]) => [
              name,
              inForms && storedAs !== undefined ? { ...field, storedAs } : field,
            ]),
          ) as unknown as CollectionDefinition['fields'],
        },
      ]),
    ),
  })
  const named = <Value>(map: (one: (typeof declared)[number]) => Value): Record<string, Value> =>
    Object.fromEntries(declared.map((one, index) => [names[index] as string, map(one)]))
  return {
    names,
    plain: definitionOf(false),
    inForms: definitionOf(true),
    types: named(({ fields }) => fields as unknown as Record<string, RandomType>),
    keys: named(({ key }) => key),
  }
}

function declare(
  all: readonly RandomCollection[],
  names: readonly string[],
  collection: RandomCollection,
  own: number,
) {
  const { uniqueCode, uniqueGroup, hasRows, hidesCode, hidesReference, isForChiefs } = collection
  const fields: Declared = {}
  const key = collection.key.map((type, part) => {
    fields[`k${part}`] = fieldOf(type)
    return `k${part}`
  })
  fields['code'] = {
    type: 'integer',
    ...(uniqueCode && { unique: true }),
    ...(hidesCode === 0 && { readableBy: ['Chief'], writableBy: ['Chief'] }),
  }
  fields['note'] = { type: 'text', maxLength: 3 }
  if (hasRows === 0) fields['owner'] = { type: 'text' }
  const references: NonNullable<CollectionDefinition['references']>[number][] = []
  const seen = new Set<string>()
  for (const [index, reference] of collection.references.entries()) {
    const target = reference.isSelf === 0 ? own : reference.target % all.length
    const isNullable: boolean[] = []
    const to = (all[target] as RandomCollection).key.map((type, part) => {
      const wanted = fieldOf(type, reference.isOtherForm ? 1 : 0)
      const taken = new Set<string>()
      const name = Object.keys(fields).find(
        (other) =>
          reference.shared[part] === true &&
          !taken.has(other) &&
          (other.startsWith('r') || (key.includes(other) && part === 0)) &&
          fields[other]?.type === wanted.type,
      )
      if (name !== undefined) {
        isNullable.push(!key.includes(name) && fields[name]?.['required'] !== true)
        taken.add(name)
        return name
      }
      isNullable.push(reference.required > 0)
      fields[`r${index}${part}`] = {
        ...wanted,
        ...(reference.required === 0 && { required: true }),
        ...(index === 0 && hidesReference === 0 && { readableBy: ['Chief'] }),
      }
      return `r${index}${part}`
    })
    // Cascades lead to collections before this one or to itself, so they never form a circle.
    const isPossible =
      reference.onDelete === 'cascade'
        ? target <= own
        : reference.onDelete !== 'setNull' || isNullable.every(Boolean)
    const onDelete = isPossible ? reference.onDelete : 'restrict'
    const name = [to.toSorted(), target].join()
    if (new Set(to).size < to.length || seen.has(name)) continue
    seen.add(name)
    references.push({ fields: to, collection: names[target] as string, onDelete })
  }
  const others = Object.keys(fields).filter((name) => name.startsWith('r'))
  return {
    key,
    fields,
    references,
    ...(uniqueGroup && { unique: [['note', others[0] ?? 'code']] }),
    ...(hasRows === 0 && {
      rows: { equal: { owner: { principal: 'user' as const } }, exceptRoles: ['Chief'] },
    }),
    ...(isForChiefs === 0 && { eventRoles: { Filter: ['Chief'] } }),
  }
}

function fieldOf(
  { type, form }: { readonly type: keyof typeof values; readonly form: number },
  otherwise = 0,
): Declared[string] {
  const known = forms[type]
  // The last one is the normal form.
  const storedAs = known?.[(form + otherwise) % (known.length + 1)]
  return {
    type,
    ...(type === 'decimal' && { precision: 6, scale: 2 }),
    ...(storedAs !== undefined && { storedAs }),
  }
}

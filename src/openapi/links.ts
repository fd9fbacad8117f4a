import type { PublishedField } from '../definition/published-field.ts'
import type { Reference } from '../definition/published.ts'
import type { JsonSchema } from '../definition/schema.ts'
import type { DescribedCollection } from './described.ts'

/** Links by name. */
export type Links = Readonly<Record<string, JsonSchema>>

/**
 * Returns the links of an item: to the items that it refers to, and to the pages of those that refer to it, as far as
 * the audience can read them.
 */
export function linksOf(
  { collection, view }: DescribedCollection,
  all: readonly DescribedCollection[],
): Links {
  const readable = (fields: readonly PublishedField[]): boolean =>
    fields.every(({ name }) => view.readable.byName.has(name))
  const links: [string, JsonSchema][] = []
  const add = (target: DescribedCollection, link: JsonSchema): void => {
    const { operations } = target.names
    const others = links.filter(([name]) => name.replace(/\d+$/, '') === operations)
    links.push([others.length === 0 ? operations : `${operations}${others.length + 1}`, link])
  }
  for (const { fields, to } of collection.references) {
    const target = all.find((each) => each.collection === to)
    if (target === undefined || !target.hasItems || !readable(fields)) continue
    add(target, {
      operationId: `${target.names.operations}Get`,
      parameters: pairs(to.key, fields),
      description: `The item of ${to.name} with this ${namesOf(fields)}.`,
    })
  }
  for (const { reference, key } of collection.referredBy) {
    const target = all.find((each) => each.collection === reference.from)
    if (target === undefined || !target.hasPages || !canFilter(target, reference)) continue
    if (!readable(key)) continue
    add(target, {
      operationId: `${target.names.operations}List`,
      parameters: pairs(reference.fields, key),
      description: `The items of ${reference.from.name} with this item as ${namesOf(reference.fields)}.`,
    })
  }
  return Object.fromEntries(links)
}

function canFilter({ collection, view }: DescribedCollection, { fields }: Reference): boolean {
  const names = fields.map(({ name }) => name)
  return (
    names.every((name) => view.listed.byName.has(name)) &&
    collection.requiredFilters.every((name) => names.includes(name))
  )
}

function pairs(
  parameters: readonly PublishedField[],
  values: readonly PublishedField[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    parameters.map(({ name }, index) => [name, `$response.body#/item/${values[index]?.name}`]),
  )
}

function namesOf(fields: readonly PublishedField[]): string {
  return fields.map(({ name }) => name).join(', ')
}

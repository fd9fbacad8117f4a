import type { PublishedField } from '../definition/published-field.ts'
import type { JsonSchema } from '../definition/schema.ts'
import { brandedHeaders } from '../protocol/names.ts'
import { parameters } from '../protocol/query.ts'
import type { DescribedCollection, DescribedService } from './described.ts'
import { exampleOf } from './examples.ts'
import { fieldSchema } from './field-schema.ts'
import { operatorParameters } from './operator-parameters.ts'
import { hasKeys, keyParameters as keyHeaderParameters } from './idempotency.ts'

/** A parameter of an operation. */
export type Parameter = Readonly<Record<string, unknown>>

const { limit, offset, after, sort, fields, q, count, expand } = parameters

/** Returns the parameters that several collections share, by the name of their component. */
export function sharedParameters({
  options,
}: DescribedService): Readonly<Record<string, Parameter>> {
  return {
    ...keyHeaderParameters,
    Offset: inQuery(offset.name, 'The number of items to skip. Default: 0.', wholeNumber),
    After: inQuery(
      after.name,
      `The page begins after the one that had this cursor. Not together with ${offset.name}.`,
      { type: 'string' },
    ),
    Search: inQuery(q.name, 'Items in which some field contains this string, ignoring case.', {
      type: 'string',
      maxLength: 200,
    }),
    Count: inQuery(count.name, 'Whether count has the number of all items that match.', {
      type: 'boolean',
    }),
    IgnoreWarnings: {
      name: capitalized(brandedHeaders(options.brand).ignoreWarnings),
      in: 'header',
      description:
        'The validationIds of confirmed warnings, each in double quotes, with commas between them.',
      schema: {
        type: 'string',
        pattern: '^[ \\t,]*("[^"]*"[ \\t]*(,[ \\t,]*"[^"]*"[ \\t]*)*[ \\t,]*)?$',
      },
    },
  }
}

/** Returns a reference to a shared parameter. */
export function sharedParameter(name: string): Parameter {
  return { $ref: `#/components/parameters/${name}` }
}

/** Returns the parameters of a save or delete. */
export function writeParameters(
  service: DescribedService,
  described: DescribedCollection,
): readonly Parameter[] {
  const names = ['IgnoreWarnings', ...(hasKeys(service, described) ? ['IdempotencyKey'] : [])]
  return names.map(sharedParameter)
}

/** Returns the parameters of the pages of a collection. */
export function pageParameters(
  described: DescribedCollection,
  { options }: DescribedService,
): readonly Parameter[] {
  const { collection, view } = described
  const { pageSize, hasCursor, requiredFilters } = collection
  const { listed } = view
  const sorted = listed.fields.filter(({ kind }) => kind.compare !== undefined)
  const names = Array.from(listed.responseFields.keys())
  const included = Array.from(listed.responseFields.values()).filter(
    (each) => each.includeByDefault,
  )
  const isRejected = options.limitExcess === 'reject'
  return [
    ...conditions(listed.fields, requiredFilters),
    ...operatorParameters(described.operators),
    inQuery(
      limit.name,
      `The number of items in the page. Default: ${pageSize.default}. ${isRejected ? 'Maximum' : 'A larger number than the maximum gives the maximum'}: ${pageSize.maximum}.`,
      { ...wholeNumber, ...(isRejected && { maximum: pageSize.maximum }) },
    ),
    sharedParameter('Offset'),
    ...(hasCursor ? [sharedParameter('After')] : []),
    ...(sorted.length === 0
      ? []
      : [
          listInQuery(
            sort.name,
            `The order; - before a name means descending.${defaultOrder(described)}`,
            { maxItems: 10 },
            sorted.flatMap(({ name }) => [name, `-${name}`]),
          ),
        ]),
    listInQuery(
      fields.name,
      `The fields of the items; * for all. Default: ${included.map(({ name }) => name).join(', ')}.`,
      {},
      ['*', ...names],
    ),
    ...expandParameters(described),
    ...(listed.searchNames.length === 0 ? [] : [sharedParameter('Search')]),
    sharedParameter('Count'),
  ]
}

/** Returns the parameter that asks for related items, if there are any. */
function expandParameters({ expandable }: DescribedCollection): readonly Parameter[] {
  if (expandable.length === 0) return []
  const names = expandable.map(({ expansion }) => expansion.name)
  return [listInQuery(expand.name, 'The relations whose items each item has.', {}, names)]
}

/** Returns the parameters of a single item: the conditions that its pages require. */
export function itemParameters(described: DescribedCollection): readonly Parameter[] {
  const { collection, view } = described
  const named = view.listed.fields.filter(({ name }) => collection.requiredFilters.includes(name))
  return [...conditions(named, []), ...expandParameters(described)]
}

/** Returns the parameters of the path of an item: the parts of its key. */
export function keyParameters({ collection }: DescribedCollection): readonly Parameter[] {
  return collection.key.map((field) => ({
    name: field.name,
    in: 'path',
    required: true,
    description: field.definition.description ?? `The ${field.name} of the item.`,
    schema: fieldSchema(field, 'target'),
    ...exampleMember(field),
  }))
}

/** Returns the conditions of equality on fields. Those on required fields come first. */
function conditions(
  given: readonly PublishedField[],
  required: readonly string[],
): readonly Parameter[] {
  const filterable = given.filter(({ kind }) => kind.filterable)
  const isRequired = ({ name }: PublishedField): boolean => required.includes(name)
  return [
    ...filterable.filter(isRequired),
    ...filterable.filter((field) => !isRequired(field)),
  ].map((field) => {
    const { name } = field
    const empty = field.required ? '' : '; an empty value for items without value'
    return {
      ...inQuery(name, `Items whose ${name} equals this${empty}.`, fieldSchema(field, 'target')),
      ...(isRequired(field) && { required: true, ...exampleMember(field) }),
    }
  })
}

function exampleMember(field: PublishedField): Parameter {
  const example = exampleOf(field)
  return example === undefined ? {} : { example }
}

function defaultOrder({ collection, view }: DescribedCollection): string {
  const { defaultSort } = collection
  if (defaultSort.length === 0 || !defaultSort.every(({ field }) => view.listed.byName.has(field)))
    return ''
  return ` Default: ${sort.encode(defaultSort)}.`
}

const wholeNumber: JsonSchema = { type: 'integer', minimum: 0 }

function inQuery(name: string, description: string, schema: JsonSchema): Parameter {
  return { name, in: 'query', description, schema }
}

function listInQuery(
  name: string,
  description: string,
  limits: JsonSchema,
  values: readonly string[],
): Parameter {
  return {
    ...inQuery(name, description, {
      type: 'array',
      minItems: 1,
      ...limits,
      uniqueItems: true,
      items: { type: 'string', enum: values },
    }),
    style: 'form',
    explode: false,
  }
}

function capitalized(header: string): string {
  return header.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase())
}

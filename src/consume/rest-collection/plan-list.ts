import type { CollectionShape } from '../../definition/item.ts'
import type { FilterCall } from '../../definition/serve.ts'
import { ServiceError } from '../../errors.ts'
import { optionsOf, type Parameter } from '../parameters.ts'
import { inputMember, isInBody, joinInputs } from '../paging/input-member.ts'
import { fieldOf, type CompleteList, type Mapping } from './complete-options.ts'
import { sendable } from './item-mapping.ts'
import type { InputMembers, SortEntry } from './options.ts'
import { combineInput, statedInput } from './stated-input.ts'

/** A Filter as it is passed on to the other service, and what is left to do here. */
export interface ListPlan {
  readonly input: InputMembers
  /** Whether the other service filters, searches, sorts and counts as requested, so that a page can be cut. */
  readonly isPassedOn: boolean
  /** Whether items arrive in the requested order. */
  readonly isOrdered: boolean
}

/** Plans a Filter. Throws MALFORMED_QUERY if a condition is missing that the other service demands. */
export function planList(
  mapping: Mapping,
  list: CompleteList,
  call: FilterCall<CollectionShape>,
): ListPlan {
  const stated = statedInput(mapping, call)
  requireFreePaging(list, stated)
  // What contradicts the stated input is not passed on: it is evaluated here, among the items of that input.
  const isStated = (input: InputMembers): boolean =>
    combineInput(list.endpoint, stated, input).conflicts.length === 0
  const filters = filterInput(list, call, isStated)
  const search = searchInput(list, call, isStated)
  requireConditions(list, joinInputs(filters.input, stated))
  const requested = orderInput(mapping, list, call.sort)
  const order = requested !== undefined && isStated(requested) ? requested : undefined
  const { total } = list
  const canCount = !call.count || (total !== undefined && isStated(total.input ?? {}))
  const isPassedOn = filters.isExact && search.isExact && canCount && order !== undefined
  const input = joinInputs(
    list.select?.(call.fields),
    filters.input,
    search.input,
    order,
    call.count && isPassedOn ? total?.input : undefined,
    stated,
  )
  return { input, isOrdered: order !== undefined, isPassedOn }
}

// Pages are requested with these parameters, so no call could have the stated value.
function requireFreePaging({ paging, pageSize }: CompleteList, stated: InputMembers): void {
  const parameter = paging !== undefined && 'parameter' in paging ? paging.parameter : undefined
  for (const name of [parameter, pageSize?.parameter])
    if (name !== undefined && inputMember(stated, name) !== undefined)
      throw new TypeError(`The result of input has ${name}, which is set for each page.`)
}

interface Passed {
  readonly input: InputMembers
  /** Whether the other service selects exactly the items that match. */
  readonly isExact: boolean
}

function filterInput(
  list: CompleteList,
  { conditions, where }: FilterCall<CollectionShape>,
  isStated: (input: InputMembers) => boolean,
): Passed {
  const input: Record<string, unknown> = {}
  let isExact = where === undefined
  for (const [name, condition] of Object.entries(conditions)) {
    const filter = list.filter[name]
    const sent = filter && sentValue(list, filter, condition as string | number | boolean | null)
    const isPassed =
      filter !== undefined && sent !== undefined && isStated({ [filter.parameter]: sent })
    if (isPassed) input[filter.parameter] = sent
    if (!isPassed || filter.exact === false) isExact = false
  }
  return { input, isExact }
}

function sentValue(
  list: CompleteList,
  { parameter, value: convert }: NonNullable<CompleteList['filter'][string]>,
  value: string | number | boolean | null,
): unknown {
  const converted = convert === undefined ? value : convert(value)
  if (converted === undefined || converted === null) return undefined
  if (isInBody(parameter)) return converted
  const described = parameterOf(list, parameter)
  return described && sendable(parameter, described, converted)
}

function searchInput(
  { search }: CompleteList,
  call: FilterCall<CollectionShape>,
  isStated: (input: InputMembers) => boolean,
): Passed {
  if (call.search === undefined) return { input: {}, isExact: true }
  const input = search && { [search.parameter]: call.search.text }
  if (input === undefined || !isStated(input)) return { input: {}, isExact: false }
  return { input, isExact: search?.exact === true }
}

/** Returns the input that requests an order, or undefined if that order can't be requested. */
function orderInput(
  { key }: Mapping,
  { sort }: CompleteList,
  order: readonly SortEntry[],
): InputMembers | undefined {
  const [first, ...rest] = order
  // One item is read by its key.
  if (first === undefined) return {}
  if (sort === undefined) return undefined
  if (typeof sort === 'function') return sort(order)
  if (!sort.fields.includes(first.field)) return undefined
  const ties = key.filter((name) => name !== first.field)
  const isByKey =
    rest.length === ties.length &&
    rest.every(({ field, descending }, index) => field === ties[index] && !descending)
  const hasTies = rest.length > 0
  if (hasTies && !(sort.thenByKey === true && isByKey)) return undefined
  return sort.input(first.field, first.descending)
}

// A path parameter, or a required parameter of the query, that is filled from a condition.
function requireConditions(list: CompleteList, input: InputMembers): void {
  const fields = Object.entries(list.filter).flatMap(([field, filter]) => {
    if (filter === undefined || inputMember(input, filter.parameter) !== undefined) return []
    const parameter = parameterOf(list, filter.parameter)
    return parameter !== undefined && optionsOf(parameter).required === true ? [field] : []
  })
  if (fields.length === 0) return
  const what = fields.length === 1 ? 'a condition on' : 'conditions on'
  throw new ServiceError(
    'MALFORMED_QUERY',
    `The request needs ${what} ${fields.join(' and ')} that the other service accepts.`,
  )
}

/** Returns the error of a Filter that needs more rows than the mapping allows. It names what would help. */
export function tooManyRows(
  mapping: Mapping,
  { filter, complete }: CompleteList,
  { conditions, principal }: FilterCall<CollectionShape>,
): ServiceError {
  const fields = Object.keys(filter).filter((name) => {
    const { readableBy } = fieldOf(mapping, name)
    const isReadable = readableBy?.some((role) => principal.roles.includes(role)) ?? true
    return isReadable && !Object.hasOwn(conditions, name)
  })
  const advice =
    fields.length === 0
      ? 'Request fewer items, without a search, another order or a count.'
      : `Add a condition on ${fields.join(' or ')}.`
  return new ServiceError(
    'MALFORMED_QUERY',
    `The request needs more than ${complete.rows} items of the other service. ${advice}`,
  )
}

function parameterOf({ endpoint }: CompleteList, name: string): Parameter | undefined {
  return Object.hasOwn(endpoint.parameters, name) ? endpoint.parameters[name] : endpoint.query[name]
}

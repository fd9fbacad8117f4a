import { createService, defineCollection, text, type ServiceOptions } from 'rowgate'
import { columns, listed, maxLengths, required, type Column } from '../customer.ts'
import { tableNames } from './announce.ts'

function includes(names: readonly string[], name: string): boolean {
  return names.includes(name)
}

function fieldOf(name: Column) {
  return text({
    maxLength: maxLengths[name],
    required: includes(required, name),
    includeByDefault: includes(listed, name),
  })
}

/** The fields of a customer. */
export const salesFields = Object.fromEntries(columns.map((name) => [name, fieldOf(name)]))

/** The applications with a collection for each table. `index`: columns with an index each. */
export function salesApplications(tables: readonly string[], index: readonly Column[] = []) {
  const collections = Object.fromEntries(
    tables.map((name) => [
      name,
      defineCollection({
        key: 'customerId',
        fields: salesFields,
        index: index.map((column) => [column]),
      }),
    ]),
  )
  return { sales: { collections } }
}

type Applications = ReturnType<typeof salesApplications>

/** The options of a service that its servers choose, and the columns that have an index. */
export interface SalesOptions extends Pick<
  ServiceOptions<Applications>,
  'storage' | 'security' | 'cache'
> {
  index?: readonly Column[]
}

/** The service that every server of rowgate mounts. */
export function salesService({ index, ...options }: SalesOptions) {
  return createService({ applications: salesApplications(tableNames(), index), ...options })
}

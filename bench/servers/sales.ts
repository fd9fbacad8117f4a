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

const fields = Object.fromEntries(columns.map((name) => [name, fieldOf(name)]))
const collections = Object.fromEntries(
  tableNames().map((name) => [name, defineCollection({ key: 'customerId', fields })]),
)
const applications = { sales: { collections } }

/** The service that every server of rowgate mounts. */
export function salesService(
  options: Pick<ServiceOptions<typeof applications>, 'storage' | 'security' | 'cache'>,
) {
  return createService({ applications, ...options })
}

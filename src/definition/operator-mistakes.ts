import type { Mistake } from '../checks/mistakes.ts'
import { listed, suggestion } from '../checks/nearest-name.ts'
import type { CollectionDefinition } from './collection.ts'
import { fieldOf } from './field.ts'
import { operatorsFor, type OperatorName } from './operators.ts'
import { leadingFields } from './published-operators.ts'
import { isServed } from './serve.ts'

/** Returns the mistakes in the operators of a well-formed collection. */
export function operatorMistakes(collection: CollectionDefinition): readonly Mistake[] {
  const { operators } = collection
  if (operators === undefined || operators === true) return []
  if (operators !== 'indexed') {
    return Object.entries(operators).flatMap(([name, given = []]) =>
      fieldMistakes(collection, name, given).map((advice) => ({
        place: `operators.${name}`,
        advice,
      })),
    )
  }
  if (isServed(collection)) {
    const advice = 'a served collection has no indexes: list the operators of each field'
    return [{ place: 'operators', advice }]
  }
  if (leadingFields(collection).length > 0) return []
  const advice = 'there is no key, unique group or index: declare one, or list operators by field'
  return [{ place: 'operators', advice }]
}

function fieldMistakes(
  { fields, computed = {} }: CollectionDefinition,
  name: string,
  given: readonly OperatorName[],
): readonly string[] {
  const field = fieldOf(fields, name)
  if (field === undefined) {
    return Object.hasOwn(computed, name)
      ? [`${name} is a computed field, which conditions can not name: leave it out`]
      : [`${name} is not a field; ${suggestion(name, Object.keys(fields), 'fields')}`]
  }
  const fitting = operatorsFor(field)
  if (fitting.length === 0) {
    const why = field.itemOnly === true ? 'pages leave it out' : `it is a ${field.type} field`
    return [`${name} can not be filtered, because ${why}: leave it out`]
  }
  const unfit = given.filter((operator) => !fitting.includes(operator))
  const repeated = new Set(given).size < given.length ? ['name each operator once'] : []
  return [
    ...unfit.map(
      (operator) =>
        `${operator} does not apply to a field of type ${field.type}; its operators are ${listed(fitting)}`,
    ),
    ...repeated,
  ]
}

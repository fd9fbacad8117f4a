import type { Mistake } from '../../checks/mistakes.ts'
import { listed } from '../../checks/nearest-name.ts'
import type { CollectionDefinition } from '../collection.ts'
import { fieldOf } from '../field.ts'

/** Returns the mistakes in the computed fields of a well-formed collection, except for mistakes in their types. */
export function computedMistakes({
  fields,
  computed = {},
}: CollectionDefinition): readonly Mistake[] {
  return Object.entries(computed).flatMap(([name, { field, needs, compute }]) => {
    const mistakes: Mistake[] = []
    const add = (place: string, advice: string): void => {
      mistakes.push({ place: `computed.${name}${place}`, advice })
    }
    if (Object.hasOwn(fields, name)) add('', 'there is a stored field with this name')
    if (compute.constructor.name === 'AsyncFunction') {
      add('.compute', 'must be synchronous: it is called for each item of a page')
    }
    for (const option of Object.keys(field)) {
      if (options.includes(option)) continue
      add(`.field.${option}`, 'is not an option of a computed field: leave it out')
    }
    for (const needed of needs) {
      const found = fieldOf(fields, needed)
      if (found === undefined) {
        const known = listed(Object.keys(fields))
        add('.needs', `${needed} is not a stored field; the fields are ${known}`)
      } else if (found.readableBy?.length === 0 && field.readableBy === undefined) {
        const advice = `no caller can read ${needed}, so none could read ${name}: declare its own readableBy`
        add('.needs', advice)
      }
    }
    return mistakes
  })
}

// What describes a value, and who can read it. A computed field is neither stored nor filtered.
const options: readonly string[] = [
  'type',
  'description',
  'includeByDefault',
  'itemOnly',
  'readableBy',
  'required',
  'enumeration',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'precision',
  'scale',
]

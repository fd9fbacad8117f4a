import { writeFileSync } from 'node:fs'
import { definitionJsonSchema } from '../src/definition/check.ts'
import { root } from './entries.ts'

// The schema that editors use for collections written as JSON; a part of the build.
const schema = JSON.stringify(definitionJsonSchema(), null, 2)
writeFileSync(`${root}dist/definition.schema.json`, `${schema}\n`)

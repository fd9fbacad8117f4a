import { appendFileSync } from 'node:fs'
import { replaceCells } from '../kit/cells.ts'
import { memory } from '../kit/storages.ts'
import { throughPrism } from './through-prism.ts'

const file = process.env['EXCHANGES']

const binding = throughPrism((limit, status) => {
  if (file !== undefined) appendFileSync(file, `${JSON.stringify([limit ?? null, status])}\n`)
})

// Prism knows nothing of storages.
const storage = memory
replaceCells([{ name: `${binding.name}, ${storage.name}`, binding, storage }])

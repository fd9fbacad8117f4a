import { appendFileSync } from 'node:fs'
import { replaceCells } from '../kit/cells.ts'
import { storages } from '../kit/storages.ts'
import { throughPrism } from './through-prism.ts'

const file = process.env['EXCHANGES']

const binding = throughPrism((limit, status) => {
  if (file !== undefined) appendFileSync(file, `${JSON.stringify([limit ?? null, status])}\n`)
})

// Prism knows nothing of storages.
const [storage] = storages
if (storage === undefined) throw new Error('There is no storage.')
replaceCells([{ name: `${binding.name}, ${storage.name}`, binding, storage }])

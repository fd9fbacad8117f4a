import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { filesBelow, textOf } from './tree.ts'

const drawers = /^(utils?|types|common|shared|helpers?|internal|misc|lib)$/
const indexes = [
  'src/index.ts',
  'src/conformance/index.ts',
  'src/deployment/index.ts',
  'src/security/index.ts',
]
const sources = filesBelow('src', '.ts')
const texts = filesBelow('.').filter((path) => /(\.([cm]?[jt]s|json|md|sql|csv)|\/run)$/.test(path))

test('no source file is longer than 300 lines', () => {
  expect(sources.filter((path) => textOf(path).split('\n').length > 301)).toEqual([])
})

test('no file or folder is a drawer', () => {
  const parts = (path: string): string[] => path.replace(/\.ts$/, '').split('/')
  expect(sources.filter((path) => parts(path).some((part) => drawers.test(part)))).toEqual([])
})

test('an index stands only where people enter', () => {
  const found = sources.filter((path) => basename(path) === 'index.ts')
  expect(found.filter((path) => !indexes.includes(path))).toEqual([])
})

test('file names are kebab-case', () => {
  expect(sources.filter((path) => !/^[a-z0-9/-]+\.ts$/.test(path))).toEqual([])
})

test('no file names a place on somebody’s machine', () => {
  const machine = /(?<![\w.$}{)-])\/(?:work|tmp|home|root|Users)\/\w|[A-Z]:\\Users/
  expect(texts.filter((path) => machine.test(textOf(path)))).toEqual([])
})

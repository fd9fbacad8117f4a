import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { mutationAreas, slowTests } from '../../.ci/mutation-areas.ts'
import { filesBelow, textOf } from './tree.ts'

const drawers = /^(utils?|types|common|shared|helpers?|internal|misc|lib)$/
const sources = [...filesBelow('src', '.ts'), ...filesBelow('src', '.tsx')]
const texts = filesBelow('.').filter((path) =>
  /(\.([cm]?[jt]sx?|json|md|sql|csv)|\/run)$/.test(path),
)

test('no source file is longer than 300 lines', () => {
  expect(sources.filter((path) => textOf(path).split('\n').length > 301)).toEqual([])
})

test('no file or folder is a drawer', () => {
  const parts = (path: string): string[] => path.replace(/\.tsx?$/, '').split('/')
  expect(sources.filter((path) => parts(path).some((part) => drawers.test(part)))).toEqual([])
})

test('only the main entry of the package is named index.ts', () => {
  const found = sources.filter((path) => basename(path) === 'index.ts')
  expect(found).toEqual(['src/entries/index.ts'])
})

test('file names are kebab-case', () => {
  expect(sources.filter((path) => !/^[a-z0-9/-]+\.tsx?$/.test(path))).toEqual([])
})

test('no file contains a path of a machine', () => {
  const machine = /(?<![\w.$}{)-])\/(?:work|tmp|home|root|Users)\/\w|[A-Z]:\\Users/
  expect(texts.filter((path) => machine.test(textOf(path)))).toEqual([])
})

test('the areas of the mutation tests name files and folders that exist', () => {
  const named = Object.values(mutationAreas).flatMap(({ code, tests }) => [...code, ...tests])
  expect([...named, ...slowTests].filter((path) => !existsSync(path))).toEqual([])
})

test('hooks stand in test files, or in functions that test files call', () => {
  // Files of a worker share the modules, so a hook of a shared file would run for one test file only.
  const shared = texts.filter(
    (path) => /^test\/.*\.ts$/.test(path) && !/\.(test|runtime|tools)\.ts$/.test(path),
  )
  const hook = /^(?:before|after)(?:Each|All)\(/m
  expect(shared.filter((path) => hook.test(textOf(path)))).toEqual([])
})

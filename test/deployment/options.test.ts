import { expect, test } from 'vitest'
import { createDeployment } from '../../src/entries/deployment.ts'
import { packageBuilder } from '../kit/builders.ts'
import { applications, environment, solutions } from './solutions.ts'

const solution = { solutionId: 'one', name: 'One', version: '1', applications }

/** Opens deployment with something wrong, as a host without types may write it. */
function opening(wrong: object): () => unknown {
  const right = { solutions, environment, builder: packageBuilder() }
  return () => createDeployment({ ...right, ...wrong })
}

const code = () => undefined

test.each<[string, object]>([
  ['deployment.storage', { storage: 'data.db' }],
  ['deployment.solutions', { solutions: [] }],
  ['deployment.solutions', { solutions: [solution, solution] }],
  ['deployment.solutions.0.solutionId', { solutions: [{ ...solution, solutionId: 'a/b' }] }],
  ['deployment.solutions.0.solutionId', { solutions: [{ ...solution, solutionId: '' }] }],
  ['deployment.solutions.0.name', { solutions: [{ ...solution, name: 'n'.repeat(201) }] }],
  ['deployment.solutions.0.version', { solutions: [{ ...solution, version: 1 }] }],
  ['deployment.solutions.0.version', { solutions: [{ ...solution, version: '1'.repeat(65) }] }],
  ['deployment.solutions.0.releaseDate', { solutions: [{ ...solution, releaseDate: 'today' }] }],
  [
    'deployment.solutions.0.releaseDate',
    { solutions: [{ ...solution, releaseDate: '2026-02-30T00:00:00' }] },
  ],
  ['deployment.solutions.0.colour', { solutions: [{ ...solution, colour: 'red' }] }],
  ['deployment.builder', { builder: undefined }],
  ['deployment.builder', { builder: code }],
  ['deployment.environment.url', { environment: { ...environment, url: 'here' } }],
  ['deployment.environment.name', { environment: { ...environment, name: undefined } }],
  ['deployment.environment.place', { environment: { ...environment, place: 'x' } }],
  [
    'deployment.environment.authenticationType',
    { environment: { ...environment, authenticationType: 'api_key' } },
  ],
  ['deployment.brand', { brand: 'acme' }],
  ['deployment.serviceVersion', { serviceVersion: '4.54' }],
  ['deployment.workers', { workers: -1 }],
  ['deployment.workers', { workers: 65 }],
  ['deployment.serial', { serial: 'yes' }],
  ['deployment.queueLimit', { queueLimit: 0 }],
  ['deployment.buildTimeout', { buildTimeout: 0 }],
  ['deployment.buildTimeout', { buildTimeout: 2 ** 31 }],
  ['deployment.waitTimeout', { waitTimeout: 1.5 }],
  ['deployment.lease', { lease: 99 }],
  ['deployment.attempts', { attempts: 0 }],
  ['deployment.pollInterval', { pollInterval: Number.NaN }],
  ['deployment.packageLimit', { packageLimit: 2 ** 29 }],
  ['deployment.snapshotData.0', { snapshotData: ['countries'] }],
  ['deployment.snapshotData.0', { snapshotData: ['rowgate-security/users'] }],
  ['deployment.queue', { queue: {} }],
  ['deployment.watch', { watch: 'log' }],
  ['deployment.now', { now: 0 }],
  ['deployment.leese', { leese: 1 }],
])('%s is a mistake at start: %j', (place, wrong) => {
  expect(opening(wrong)).toThrow(TypeError)
  expect(opening(wrong)).toThrow(`${place}: `)
})

test('one error lists all mistakes', () => {
  const wrong = { lease: 1, workers: -1, leese: 1, environment: {} }
  for (const place of ['lease', 'workers', 'leese', 'environment.url', 'environment.name']) {
    expect(opening(wrong)).toThrow(`deployment.${place}: `)
  }
})

test('a solution whose applications are wrong is a mistake at start', () => {
  const wrong = { sales: { collections: { countries: { key: 'code', fields: {} } } } }
  expect(opening({ solutions: [{ ...solution, applications: wrong }] })).toThrow(TypeError)
})

test('what is right opens, and nothing begins before its storage does', () => {
  const limits = { lease: 100, workers: 64, queueLimit: 1, attempts: 1, packageLimit: 2 ** 28 }
  const least = { environmentId: 'e', name: 'n', url: 'https://example.com' }
  expect(opening({ ...limits, environment: least })).not.toThrow()
})

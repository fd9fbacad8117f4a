import type { RequestListener } from 'node:http'
import { onTestFinished } from 'vitest'
import { createDeployment, type Builder } from '../../src/entries/deployment.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import { createService, defineCollection, memoryStorage, text } from '../../src/entries/index.ts'
import { packageBuilder } from './builders.ts'
import { newKey, plainKeys } from './keys.ts'
import { serveDuringTest } from './server.ts'

const countries = defineCollection({ key: 'code', fields: { code: text({ maxLength: 5 }) } })
const applications = { sales: { collections: { countries } } }
const solutions = [
  { solutionId: 'northwind', name: 'Northwind Traders', version: '7.1', applications },
  { solutionId: 'plain', name: 'Plain', version: '1.0', applications },
]
const environment = { environmentId: 'env-1', name: 'QA', url: 'https://qa.example.com/' }

/** A service with deployment on a socket. */
export interface Deployed {
  readonly url: string
  readonly handler: RequestListener
  readonly key: string
  /** A key without the role. */
  readonly poorKey: string
}

/** Starts a service with deployment on a socket. */
export async function startDeployed(builder: Builder = packageBuilder()): Promise<Deployed> {
  const deployment = createDeployment({
    solutions,
    environment,
    builder,
    pollInterval: 30,
  })
  const service = createService({
    applications: { ...applications, ...deployment.applications },
    storage: memoryStorage(),
    security: plainKeys(),
  })
  onTestFinished(() => service.close())
  await service.ready()
  const handler = toNodeHandler(service)
  const url = await serveDuringTest(handler)
  await service.users.add({ user: 'deployer', roles: ['Deployment'] })
  const { key } = await newKey(service, { user: 'deployer' })
  const { key: poorKey } = await newKey(service)
  return { url, handler, key, poorKey }
}

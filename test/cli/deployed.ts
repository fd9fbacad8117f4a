import { createServer, type RequestListener } from 'node:http'
import { expect, onTestFinished } from 'vitest'
import { createDeployment, type Builder } from '../../src/deployment/index.ts'
import { toNodeHandler } from '../../src/http/node.ts'
import { createService, defineCollection, memoryStorage, text } from '../../src/index.ts'
import { newKey, plainKeys } from '../kit/keys.ts'
import { packageBuilder } from '../kit/builders.ts'
import { runAlone, type Run, type Scene } from './stage.ts'
import { openServer } from '../kit/server.ts'

const countries = defineCollection({ key: 'code', fields: { code: text({ maxLength: 5 }) } })
const applications = { sales: { collections: { countries } } }
const solutions = [
  { solutionId: 'northwind', name: 'Northwind Traders', version: '7.1', applications },
  { solutionId: 'plain', name: 'Plain', version: '1.0', applications },
]
const environment = { environmentId: 'env-1', name: 'QA', url: 'https://qa.example.com/' }

/** A service with deployment, to be reached by the command line. */
export interface Deployed {
  readonly url: string
  readonly handler: RequestListener
  readonly key: string
  /** A key without the role. */
  readonly poorKey: string
  /** Runs `rowgate release ...` against it. */
  run(line: readonly string[], scene?: Scene): Promise<Run>
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
  const url = await listen(handler)
  await service.users.add({ user: 'deployer', roles: ['Deployment'] })
  const { key } = await newKey(service, { user: 'deployer' })
  const { key: poorKey } = await newKey(service)
  return {
    url,
    handler,
    key,
    poorKey,
    run: (line, scene) => runRelease(line, { url, key, ...scene }),
  }
}

/** Starts a server for the duration of the test, and returns its URL. */
export async function listen(handler: RequestListener): Promise<string> {
  const { url, close } = await openServer(createServer(handler))
  onTestFinished(close)
  return url
}

/** Runs `rowgate release ...` with an address and a key. */
export async function runRelease(
  line: readonly string[],
  { url, key, ...scene }: Scene & { readonly url: string; readonly key: string },
): Promise<Run> {
  const environment = { ROWGATE_KEY: key, ...scene.environment }
  const run = await runAlone(['release', ...line, '--url', url], { ...scene, environment })
  expect(run.output + run.messages).not.toContain(key)
  return run
}

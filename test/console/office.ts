import { administration } from '../../src/entries/administration.ts'
import { adminConsole } from '../../src/entries/console.ts'
import { CallError, createOutbox } from '../../src/entries/consume.ts'
import { createDeployment } from '../../src/entries/deployment.ts'
import {
  createService,
  defineCollection,
  memoryStorage,
  principal,
  text,
} from '../../src/entries/index.ts'
import { apiKeys, httpBasic } from '../../src/entries/security.ts'
import { packageOf } from '../kit/builders.ts'
import { cheapCost } from '../kit/keys.ts'

const roles = ['Sales'] as const

/** Opens the service of an office: with users, keys, releases and an outbox that its administrator ada manages. */
export async function openOffice() {
  const state = { isMailUp: false, isBuildBroken: true }
  const outbox = createOutbox({
    endpoints: {
      'send-mail': {
        deliver: () => {
          if (!state.isMailUp) throw new CallError('INVALID_INPUT', 'send-mail')
          return null
        },
      },
    },
    pollInterval: 20,
  })
  const orders = defineCollection(
    { key: 'orderId', roles, fields: { orderId: text() } },
    {
      events: {
        Insert: {
          after: async (event) => {
            await outbox.enqueue(event, 'send-mail', { orderId: event.item.orderId })
          },
        },
      },
    },
  )
  const applications = { shop: { collections: { orders } } }
  const deployment = createDeployment({
    solutions: [{ solutionId: 'shop', name: 'Shop', version: '1.0', applications }],
    environment: { environmentId: 'qa', name: 'QA', url: 'https://qa.example.com/' },
    builder: {
      name: 'test',
      build: async (job) => {
        await new Promise((resolve) => setTimeout(resolve, 200))
        if (state.isBuildBroken) throw new Error('The tests of the shop have failed.')
        return packageOf(job)
      },
    },
    pollInterval: 20,
  })
  const service = createService({
    applications: {
      ...applications,
      ...deployment.applications,
      ...administration({
        deployment,
        outboxes: { main: outbox },
        roles: { auditor: 'Auditor' },
      }).applications,
    },
    storage: memoryStorage(),
    security: [
      apiKeys({ name: 'API Key', priority: 2, properties: { AllowInsecureHttp: true } }),
      httpBasic({ name: 'Password', priority: 1, cost: cheapCost, allowInsecureHttp: true }),
    ],
    pages: { console: adminConsole({ title: 'Office' }) },
    outbox,
    report: () => undefined,
  })
  await service.ready()
  await service.users.add({
    user: 'ada',
    roles: ['Administrator', 'Sales', 'Deployment'],
    password: 'a long password',
  })
  const clerk = service.as(principal('clerk', { roles: ['Sales'] }))
  return {
    service,
    outbox,
    state,
    order: (orderId: string) => clerk.collection('shop', 'orders').insert({ orderId }),
  }
}

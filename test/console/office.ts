import type { Page } from 'playwright-core'
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
  warning,
} from '../../src/entries/index.ts'
import { apiKeys, httpBasic } from '../../src/entries/security.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { allKeys } from '../../src/security/keys/request-counter.ts'
import { addRequests } from '../../src/security/keys/request-counts.ts'
import { packageOf } from '../kit/builders.ts'
import { cheapCost } from '../kit/keys.ts'
import type { OpenPage } from './desk.ts'

const roles = ['Sales'] as const

/** Opens the service of an office: with users, keys, releases and an outbox that its administrator ada manages. */
export async function openOffice(storage: StorageAdapter = memoryStorage()) {
  const state = { isMailUp: false, isBuildBroken: true, buildStart: Promise.resolve() }
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
    { key: 'orderId', roles, fields: { orderId: text(), note: text({ maxLength: 40 }) } },
    {
      validations: [
        warning('no-note', {
          events: ['Update'],
          check: ({ note }) => (note === null ? 'The order has no note.' : undefined),
        }),
      ],
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
        await state.buildStart
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
    storage,
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
    storage,
    outbox,
    state,
    order: (orderId: string) => clerk.collection('shop', 'orders').insert({ orderId }),
  }
}

/** Adds requests of a key to the last days: today 7, and fewer or more before. Returns their sum. */
export async function addPastRequests(storage: StorageAdapter, keyId: string): Promise<number> {
  const days = Array.from({ length: 24 }, (_, ago) => ({
    day: new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10),
    requests: 7 + ((ago * 37) % 90) * (ago % 7 < 2 ? 1 : 25),
  }))
  await storage.transaction({ mode: 'write', brief: true }, async (on) => {
    for (const subject of [keyId, allKeys])
      await addRequests(
        on,
        days.map((day) => ({ ...day, keyId: subject })),
      )
  })
  return days.reduce((sum, { requests }) => sum + requests, 0)
}

/** Opens the console of an office, and signs in as its administrator. */
export async function openSignedIn(open: OpenPage, options: Parameters<OpenPage>[1] = {}) {
  const office = await openOffice()
  const opened = await open(office.service, options)
  await enterPassword(opened.page, 'ada', 'a long password')
  return { ...office, ...opened }
}

/** Signs in with a password. */
export async function enterPassword(page: Page, user: string, password: string): Promise<void> {
  await page.getByLabel('User', { exact: true }).fill(user)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
}

/** A link of the menu. */
export const link = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true })
/** A button of the page. */
export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

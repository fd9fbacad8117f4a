import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { adminConsole } from '../../src/entries/console.ts'
import {
  boolean,
  computed,
  createService,
  date,
  decimal,
  defineCollection,
  instant,
  integer,
  json,
  memoryStorage,
  openAccess,
  principal,
  text,
  warning,
  type RequestHandler,
  type Service,
  type ServiceOptions,
} from '../../src/entries/index.ts'
import { apiKeys } from '../../src/entries/security.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { describeInBrowser, openPage, startBrowser, type WatchedPage } from '../kit/browser.ts'
import type { Host } from '../kit/cells.ts'
import { mounts, prefix } from '../kit/mounts.ts'

const books = defineCollection(
  {
    key: 'bookId',
    titleField: 'title',
    cursor: true,
    description: 'The books of the desk.',
    concurrency: { ifMatch: 'optional' },
    fields: {
      bookId: integer({ generated: 'database', readOnly: true }),
      title: text({ required: true, maxLength: 60 }),
      author: text({ references: 'authors' }),
      genre: text({ enumeration: ['novel', 'poems', 'drama'], default: 'novel' }),
      price: decimal({ precision: 8, scale: 2, minimum: '0', label: 'Price' }),
      pages: integer(),
      inPrint: boolean({ required: true, default: true }),
      published: date(),
      changed: instant(),
      notes: text({ includeByDefault: false, multiline: true }),
      extra: json({ includeByDefault: false }),
    },
  },
  {
    computed: { label: computed(text(), ['title'], ({ title }) => title.toUpperCase()) },
    validations: [
      warning('price', {
        field: 'price',
        check: ({ price }) =>
          price !== null && Number(price) > 100 ? 'A price above 100 is unusual.' : undefined,
      }),
    ],
  },
)

const authors = defineCollection({
  key: 'author',
  titleField: 'name',
  fields: { author: text({ maxLength: 40 }), name: text({ maxLength: 20000 }) },
})

const shelves = defineCollection({
  key: ['room', 'place'],
  fields: { room: text({ maxLength: 30 }), place: text({ maxLength: 30 }), width: integer() },
})

const reports = defineCollection({
  requiredFilters: ['genre'],
  publishes: ['Filter'],
  fields: { genre: text({ enumeration: ['novel', 'poems'] }), sold: integer() },
})

const state = defineCollection(
  { singleton: true, fields: { isOpen: boolean({ required: true }), since: date() } },
  { serve: { get: () => ({ isOpen: true, since: '2026-01-31' }) } },
)

const secrets = defineCollection({
  key: 'id',
  roles: ['Secret'],
  fields: { id: integer(), word: text() },
})

/** The collections of the desk. */
export const applications = {
  desk: { collections: { authors, books, shelves, reports, state, secrets } },
}

/** The service of a desk with a console, by default with open access. */
export type Desk = Service<typeof applications>

/** Creates the service of a desk with a console. A price above 100 has to be confirmed. */
export function openDesk(
  security: ServiceOptions<typeof applications>['security'] = openAccess(),
  storage: StorageAdapter = memoryStorage(),
): Desk {
  return createService({
    applications,
    storage,
    security,
    pages: { console: adminConsole({ title: 'Desk' }) },
  })
}

/** The provider of keys of the desk. */
export const keys = () =>
  apiKeys({ name: 'keys', priority: 1, properties: { AllowInsecureHttp: true } })

/** Returns a key of the user maria. */
export async function keyOf({ users, keys: keyring }: Desk, roles: readonly string[] = []) {
  await users.ensure({ user: 'maria', roles })
  return (await keyring.create({ user: 'maria' })).key
}

const clerk = principal('clerk', { roles: ['Secret'] })

/** Stores two authors, a book of each, and a shelf. */
export async function fill(service: Desk): Promise<void> {
  const desk = service.as(clerk)
  await desk.collection('desk', 'authors').insert({ author: 'fontane', name: 'Theodor Fontane' })
  await desk.collection('desk', 'authors').insert({ author: 'keun', name: 'Irmgard Keun' })
  const shelf = desk.collection('desk', 'books')
  await shelf.insert({
    title: 'Effi Briest',
    author: 'fontane',
    price: '12.50',
    pages: 354,
    published: '1896-01-01',
    changed: '2026-02-28T09:30:00Z',
    extra: { colour: 'red' },
  })
  await shelf.insert({ title: 'Gilgi', author: 'keun', price: '9.90', pages: 240 })
  await desk.collection('desk', 'shelves').insert({ room: 'a/b', place: 'c #1 %?ü', width: 80 })
}

/** Options of a browser, and the hash of the address. */
export type OpenOptions = BrowserContextOptions & { readonly hash?: string; readonly host?: string }

/** The name of a host that is not the own machine for the browser, so that plain HTTP to it is not secure. */
export const otherHost = 'desk.example.com'

/** A console that a browser has opened. */
export interface OpenConsole extends WatchedPage {
  readonly url: string
  /** The requests to the service, such as `GET desk/books?$limit=25`. */
  readonly requests: string[]
}

/** Opens the console of a service. */
export type OpenPage = (
  service: RequestHandler & { readonly close: () => Promise<void> },
  options?: OpenOptions,
) => Promise<OpenConsole>

/** Puts a service on a socket with the binding that the environment names, as `npm run test:console` does. Default `node:http`. */
function startService(service: RequestHandler): Promise<Host> {
  const { BINDING: binding = 'node:http' } = process.env
  const start = mounts[binding]
  if (start === undefined) throw new Error(`No such binding: ${binding}.`)
  return start(service)
}

/** Declares tests in one browser. A message of the browser that a test does not take fails it. */
export function describeConsole(name: string, body: (open: OpenPage) => void): void {
  describeInBrowser(name, () => {
    const ends: (() => Promise<unknown>)[] = []
    let browser: Browser
    beforeAll(async () => {
      browser = await startBrowser([`--host-resolver-rules=MAP ${otherHost} 127.0.0.1`])
    })
    afterEach(async () => {
      for (const end of ends.splice(0).toReversed()) await end()
    })
    afterAll(() => browser.close())
    body(async (service, { hash = '', host = '127.0.0.1', ...options } = {}) => {
      const { port, close } = await startService(service)
      const origin = `http://${host}:${port}`
      const url = `${origin}${prefix}`
      const watched = await openPage(browser, options)
      const { page, problems, origins } = watched
      const requests: string[] = []
      page.on('request', (request) => {
        const { pathname, search, protocol } = new URL(request.url())
        const path = decodeURIComponent(pathname.replace(`${prefix}/rest/v1/`, '') + search)
        if (protocol === 'http:') requests.push(`${request.method()} ${path}`)
      })
      ends.push(
        () => service.close(),
        close,
        () => page.context().close(),
        async () => {
          expect(problems).toEqual([])
          expect([...origins]).toEqual([origin])
        },
      )
      await page.goto(`${url}/rest/v1/console${hash}`)
      return { ...watched, url, requests }
    })
  })
}

/** Waits until the title of a screen is shown. */
export async function onScreen(page: Page, name: string | RegExp): Promise<void> {
  await page.getByRole('heading', { level: 1, name }).waitFor()
}

/** Signs in with a key. */
export async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
}

/** Removes the messages with which Chromium reports responses with these statuses, which have to be there. */
export function takeRejections(problems: string[], ...statuses: readonly number[]): void {
  expect(problems.splice(0)).toEqual(
    statuses.map((status) => expect.stringContaining(`status of ${status}`) as unknown),
  )
}

/** Returns by how many pixels the page is wider than the window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - innerWidth')
}

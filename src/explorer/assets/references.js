// Choices for parameters that name items of other collections: their keys, with the fields that name the items.

/**
 * @typedef {{ collection: string, fields: string[] }} Reference
 * @typedef {{ $ref?: string, properties?: Record<string, Schema>, items?: Schema, 'x-rowgate'?: { references?: Reference } }} Schema
 * @typedef {{ content?: Record<string, { schema?: Schema }>, $ref?: string }} Content
 * @typedef {{ responses?: Record<string, Content>, 'x-rowgate'?: { key?: string[], title?: string, search?: string[] } }} Operation
 * @typedef {{
 *   info?: { title?: string },
 *   paths?: Record<string, { get?: Operation }>,
 *   components?: Record<string, Record<string, object>>,
 * }} Description The OpenAPI document.
 * @typedef {{ description: Description, headers: Record<string, string>, url: string, cookies: RequestCredentials }} Shown
 */

const pause = 200
let lists = 0

// The list of choices of each input that is shown.
/** @type {Map<HTMLInputElement, HTMLDataListElement>} */
const offered = new Map()

/** @type {MutationObserver | undefined} */
let observer

/**
 * Offers choices in the inputs of parameters below an element, also in those that appear later.
 * @param {HTMLElement} element
 * @param {Shown} shown
 */
export function offerReferences(element, shown) {
  const offer = () => {
    removeUnused()
    const inputs = /** @type {NodeListOf<HTMLInputElement>} */ (
      element.querySelectorAll('tr[data-param-name] input:not([list])')
    )
    for (const input of inputs) {
      const row = /** @type {HTMLElement | null} */ (input.closest('tr[data-param-name]'))
      const path = input.closest('.opblock')?.querySelector('[data-path]')
      const target = targetOf(shown, {
        path: path?.getAttribute('data-path') ?? '',
        parameter: row?.dataset['paramName'] ?? '',
      })
      if (target !== undefined) offerKeys(input, target, shown)
    }
  }
  observer?.disconnect()
  observer = new MutationObserver(offer)
  observer.observe(element, { childList: true, subtree: true })
}

/** Removes the lists of inputs that the page no longer shows. */
function removeUnused() {
  for (const [input, list] of offered) {
    if (input.isConnected) continue
    list.remove()
    offered.delete(input)
  }
}

// Control characters, and those that change the direction of the text around them.
const unseen = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/**
 * Returns a string in which invisible characters that could mislead are written as escapes.
 * @param {string} text
 */
function visible(text) {
  return text.replace(
    unseen,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/**
 * Returns a part of the document, which may be a reference to a component.
 * @template {object} Part
 * @param {Description} description
 * @param {Part | undefined} part
 * @returns {Part | undefined}
 */
function resolved({ components }, part) {
  const { $ref = '' } = /** @type {{ $ref?: string }} */ (part ?? {})
  const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(.+)$/.exec($ref) ?? []
  return kind === '' ? part : /** @type {Part | undefined} */ (components?.[kind]?.[name])
}

/**
 * Returns the path of the collection whose items a parameter names, and how it is listed; undefined if the caller can't.
 * @param {Shown} shown
 * @param {{ path: string, parameter: string }} place
 */
function targetOf({ description }, { path, parameter }) {
  const [, application = '', name = ''] = path.split('/')
  const list = description.paths?.[`/${application}/${name}`]?.get
  const { content } = resolved(description, list?.responses?.['200']) ?? {}
  const envelope = resolved(description, content?.['application/json']?.schema)
  const items = resolved(description, envelope?.properties?.['items'])
  const item = resolved(description, items?.items)
  // A parameter with an operator, such as `price.gte`, begins with the field.
  const field = resolved(description, item?.properties?.[parameter.split('.')[0] ?? ''])
  const references = field?.['x-rowgate']?.references
  if (references?.fields.length !== 1) return undefined
  const target = `/${application}/${references.collection}`
  const get = description.paths?.[target]?.get
  return get === undefined ? undefined : { path: target, facts: get['x-rowgate'] ?? {} }
}

/**
 * Lists matching keys below an input when it has the focus, and while people type.
 * @param {HTMLInputElement} input
 * @param {{ path: string, facts: NonNullable<Operation['x-rowgate']> }} target
 * @param {Shown} shown
 */
function offerKeys(input, { path, facts }, { headers, url, cookies }) {
  const { key: [key = ''] = [], title, search } = facts
  const list = document.createElement('datalist')
  list.id = `keys-${++lists}`
  document.body.append(list)
  offered.set(input, list)
  input.setAttribute('list', list.id)
  let latest = 0
  const fill = async () => {
    const turn = ++latest
    const query = new URLSearchParams({ $limit: '10' })
    query.set('$fields', [...new Set([key, title ?? key])].join())
    if (search !== undefined && input.value !== '') query.set('$q', input.value)
    const response = await fetch(`${url}${path}?${query}`, { headers, credentials: cookies })
    const body = response.ok ? await response.json() : { items: [] }
    // A later request has overtaken this one.
    if (turn !== latest) return
    const items = /** @type {Record<string, unknown>[]} */ (body.items)
    const options = items.map((item) =>
      Object.assign(document.createElement('option'), {
        value: String(item[key]),
        label: title === undefined || title === key ? '' : visible(String(item[title] ?? '')),
      }),
    )
    // The browser shows a key as it is, and enters what it shows.
    const unambiguous = options.filter(({ value }) => visible(value) === value)
    list.replaceChildren(...unambiguous)
  }
  // Choices are an offer: without them, a key is typed.
  const attempt = () => void fill().catch(() => undefined)
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  input.addEventListener('focus', attempt)
  input.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(attempt, pause)
  })
}

// The script of the explorer: signs in, shows the document in Swagger UI, and confirms warnings.

import { offerReferences } from './references.js'

/**
 * @typedef {{ type: 'apiKey', header: string } | { type: 'basic' } | { type: 'bearer' }} SignInMethod
 * @typedef {{ info?: { title?: string }, servers?: { url: string }[] }} Description The OpenAPI document.
 * @typedef {{ name: string, in: string, value?: string }} Parameter
 * @typedef {{ path: string, method: string }} Operation
 * @typedef {{ text?: string, err?: { response?: { text?: string } } }} OperationResponse
 * @typedef {{ message: string, severity: string, field?: string, validationId?: string }} ValidationEntry
 */

/**
 * @typedef {object} SwaggerSystem What Swagger UI passes to a plugin.
 * @property {{
 *   changeParam(place: [string, string], name: string, where: string, value: string): void,
 *   execute(operation: Operation): void,
 * }} specActions
 * @property {{
 *   operationWithMeta(path: string, method: string): { toJS(): { parameters?: Parameter[] } },
 * }} specSelectors
 */

const { document: documentUrl = '', methods = '[]', open = 'false' } = document.body.dataset
const signInMethods = /** @type {SignInMethod[]} */ (JSON.parse(methods))
const storageKey = `rowgate explorer ${location.pathname}`

// With cookies, a browser opens a dialog of its own when a response has the challenge Basic.
const cookies = signInMethods.some(({ type }) => type === 'basic') ? 'omit' : 'same-origin'

const form = /** @type {HTMLFormElement} */ (element('sign-in'))
const confirmation = /** @type {HTMLDialogElement} */ (element('confirmation'))

/**
 * Returns an element of the page.
 * @param {string} id
 */
function element(id) {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`The page has no element ${id}.`)
  return found
}

/** Shows the inputs of the chosen method of signing in, and no others. */
function showInputs() {
  const chosen = chosenMethod()?.type
  for (const group of form.querySelectorAll('fieldset')) {
    group.hidden = group.disabled = group.dataset['method'] !== chosen
  }
}

function chosenMethod() {
  return signInMethods[Number(new FormData(form).get('method') ?? 0)]
}

/**
 * Returns the headers with the credentials that the form contains.
 * @returns {Record<string, string>}
 */
function enteredHeaders() {
  const method = chosenMethod()
  const values = new FormData(form)
  const value = (/** @type {string} */ name) => String(values.get(name) ?? '')
  switch (method?.type) {
    case 'apiKey':
      return { [method.header]: value('key').trim() }
    case 'bearer':
      return { Authorization: `Bearer ${value('token').trim()}` }
    case 'basic': {
      const bytes = new TextEncoder().encode(`${value('user')}:${value('password')}`)
      return { Authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` }
    }
    default:
      return {}
  }
}

/**
 * Shows the form, with the reason if signing in has failed.
 * @param {string} problem
 */
function showForm(problem) {
  element('problem').textContent = problem
  element('session').hidden = true
  form.hidden = signInMethods.length === 0
  showInputs()
  const first = /** @type {HTMLInputElement | null} */ (
    form.querySelector('fieldset:enabled > input')
  )
  first?.focus()
}

/**
 * Fetches the document with the rights of the caller and shows it; shows the form if it is rejected.
 * @param {Record<string, string>} headers
 */
async function openDescription(headers) {
  element('problem').textContent = ''
  try {
    const description = await fetchDescription(headers)
    const isSignedIn = Object.keys(headers).length > 0
    if (isSignedIn) sessionStorage.setItem(storageKey, JSON.stringify(headers))
    form.hidden = true
    element('session').hidden = signInMethods.length === 0
    element('sign-out').hidden = !isSignedIn
    element('sign-in-again').hidden = isSignedIn
    showDescription(description, headers)
  } catch (error) {
    sessionStorage.removeItem(storageKey)
    showForm(error instanceof Error ? error.message : String(error))
  }
}

/**
 * @param {Record<string, string>} headers
 * @returns {Promise<Description>}
 */
async function fetchDescription(headers) {
  const response = await fetch(documentUrl, { headers, credentials: cookies })
  const text = await response.text()
  if (!response.ok) {
    throw new Error(envelopeOf(text)?.message ?? `The server responded ${response.status}.`)
  }
  return /** @type {Description} */ (JSON.parse(text))
}

/**
 * @param {Description} description
 * @param {Record<string, string>} headers
 */
function showDescription(description, headers) {
  if (description.info?.title) document.title = description.info.title
  // The service is where this page is, even if the document does not know the prefix of the mount.
  const url = new URL('.', location.href).pathname.replace(/\/$/, '')
  offerReferences(element('description'), { description, headers, url, cookies })
  const { SwaggerUIBundle } = /** @type {Window & { SwaggerUIBundle(options: object): void }} */ (
    /** @type {unknown} */ (window)
  )
  SwaggerUIBundle({
    spec: { ...description, servers: [{ url }] },
    domNode: element('description'),
    validatorUrl: null,
    tryItOutEnabled: true,
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    plugins: [withoutChoices, confirmWarnings()],
    /** @param {{ headers: Record<string, string>, credentials: string }} request */
    requestInterceptor: (request) => {
      Object.assign(request.headers, headers)
      request.credentials = cookies
      return request
    },
  })
}

/** Names the controls that Swagger UI leaves without an accessible name. */
function nameControls() {
  const controls = element('description').querySelectorAll(
    ':is(select, input, textarea):not([aria-label])',
  )
  for (const control of controls) {
    const row = /** @type {HTMLElement | null} */ (control.closest('tr[data-param-name]'))
    const isExample = control.closest('.examples-select') !== null
    const name = row?.dataset['paramName'] ?? (isExample ? 'Example' : 'Request body')
    control.setAttribute('aria-label', name)
  }
}

// The page signs in once, before it fetches the document, and there is one server: the one of this page.
const withoutChoices = {
  components: {
    AuthorizeBtnContainer: () => null,
    authorizeOperationBtn: () => null,
    ServersContainer: () => null,
  },
}

/** Returns a plugin that offers to repeat a request that was rejected because of warnings. */
function confirmWarnings() {
  /** @type {Map<string, Operation>} */
  const executed = new Map()
  /** @type {Set<string>} */
  const confirmed = new Set()
  const execute = (/** @type {(operation: Operation) => unknown} */ original) => {
    return (/** @type {Operation} */ operation) => {
      executed.set(`${operation.method} ${operation.path}`, operation)
      return original(operation)
    }
  }
  const setResponse = (
    /** @type {(path: string, method: string, response: OperationResponse) => unknown} */ original,
    /** @type {SwaggerSystem} */ { specActions, specSelectors },
  ) => {
    return (
      /** @type {string} */ path,
      /** @type {string} */ method,
      /** @type {OperationResponse} */ response,
    ) => {
      const name = `${method} ${path}`
      const { parameters = [] } = specSelectors.operationWithMeta(path, method).toJS()
      const header = parameters.find(
        (each) => each.in === 'header' && /-ignore-warnings$/i.test(each.name),
      )
      const operation = executed.get(name)
      const result = original(path, method, response)
      if (header === undefined || operation === undefined) return result
      const change = (/** @type {string} */ value) =>
        specActions.changeParam([path, method], header.name, 'header', value)
      const pending = pendingWarnings(response)
      if (pending.length > 0) {
        const ids = pending.map(({ validationId }) => `"${validationId}"`)
        const value = [header.value, ...ids].filter(Boolean).join(', ')
        offerConfirmation(pending, `${header.name}: ${value}`, () => {
          confirmed.add(name)
          change(value)
          specActions.execute(operation)
        })
      } else if (confirmed.delete(name)) {
        // A confirmation is for one request.
        change('')
      }
      return result
    }
  }
  return { statePlugins: { spec: { wrapActions: { execute, setResponse } } } }
}

/**
 * Returns the warnings of a response whose confirmation makes the same request succeed.
 * @param {OperationResponse} response
 */
function pendingWarnings({ text, err }) {
  const { message = null, validations = [] } = envelopeOf(err?.response?.text ?? text ?? '') ?? {}
  if (message === null || validations.some(({ severity }) => severity === 'error')) return []
  return validations.filter(({ validationId }) => validationId !== undefined)
}

/**
 * @param {ValidationEntry[]} warnings
 * @param {string} header
 * @param {() => void} confirm
 */
function offerConfirmation(warnings, header, confirm) {
  const items = warnings.map(({ message }) => {
    const item = document.createElement('li')
    item.textContent = message
    return item
  })
  element('warnings').replaceChildren(...items)
  element('confirmation-header').textContent = header
  confirmation.returnValue = ''
  confirmation.onclose = () => {
    if (confirmation.returnValue === 'confirm') confirm()
  }
  confirmation.showModal()
}

/**
 * Returns the envelope of a response; undefined if the text is not one.
 * @param {string} text
 * @returns {{ message?: string | null, validations?: ValidationEntry[] } | undefined}
 */
function envelopeOf(text) {
  try {
    const body = JSON.parse(text)
    return typeof body === 'object' && body !== null ? body : undefined
  } catch {
    return undefined
  }
}

new MutationObserver(nameControls).observe(element('description'), {
  childList: true,
  subtree: true,
})

const dark = matchMedia('(prefers-color-scheme: dark)')
const followColorScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', followColorScheme)
followColorScheme()

form.addEventListener('change', showInputs)
form.addEventListener('submit', (event) => {
  event.preventDefault()
  void openDescription(enteredHeaders())
})
element('confirm').addEventListener('click', () => confirmation.close('confirm'))
element('cancel').addEventListener('click', () => confirmation.close())
element('sign-in-again').addEventListener('click', () => showForm(''))
element('sign-out').addEventListener('click', () => {
  sessionStorage.removeItem(storageKey)
  location.reload()
})

const stored = sessionStorage.getItem(storageKey)
if (stored !== null) void openDescription(JSON.parse(stored))
else if (open === 'true') void openDescription({})
else showForm('')

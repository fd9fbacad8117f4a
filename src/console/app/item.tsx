import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { messageFor, read, type Item } from './api.ts'
import { ask } from './ask.tsx'
import { itemPath, keyOf, type Collection } from './collections.ts'
import { focusProblem, FormFields } from './form.tsx'
import { useForm, type FormState } from './form-state.tsx'
import { go, guardLeaving, hashOf, itemHash } from './route.ts'
import { save, type Rejected, type Saved } from './save.ts'
import { announce, Heading, Problem } from './screen.tsx'
import { shortened } from './values.ts'

/** The hash of the grid of a collection. */
function gridHash({ application, name }: Collection): string {
  return hashOf(['data', application, name])
}

function Above({ collection }: { readonly collection: Collection }): VNode {
  const { application, name, isSingleton } = collection
  return (
    <>
      {isSingleton ? application : <a href={gridHash(collection)}>{`${application} / ${name}`}</a>}
    </>
  )
}

/** The form of a new item. */
export function NewItem({ collection }: { readonly collection: Collection }): VNode {
  const form = useForm(collection.insertable, undefined)
  const element = useRef<HTMLFormElement>(null)
  const [isBusy, setBusy] = useState(false)
  const submit = async (): Promise<void> => {
    form.clear()
    const values = form.changes()
    if (values === undefined) {
      focusProblem(element.current)
      return
    }
    setBusy(true)
    const saved = await attempt({ method: 'POST', path: collection.path, body: values })
    setBusy(false)
    if (saved.kind === 'rejected') form.reject(saved.message, saved.findings)
    if (saved.kind === 'rejected') focusProblem(element.current)
    if (saved.kind !== 'saved') return
    guardLeaving(undefined)
    announce(noteOf(saved, 'The item was added.'))
    const { item } = saved.reply.envelope
    const { application, name, can, key } = collection
    const isShown = can.read && key.length > 0 && item !== undefined
    go(
      isShown
        ? itemHash('item', [application, name], keyOf(collection, item))
        : gridHash(collection),
    )
  }
  return (
    <>
      <Heading title="New item" above={<Above collection={collection} />} />
      <form
        ref={element}
        class="item"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) void submit()
        }}
      >
        <Summary messages={form.problems['']} />
        <FormFields collection={collection} fields={collection.insertable} form={form} />
        <div class="bar">
          <button type="submit" class="primary" disabled={isBusy}>
            {isBusy ? 'Saving…' : 'Add item'}
          </button>
          <a class="button" href={gridHash(collection)}>
            Cancel
          </a>
        </div>
      </form>
    </>
  )
}

/** The messages of a form that are about no single field. */
export function Summary({
  messages,
}: {
  readonly messages: readonly string[] | undefined
}): VNode | null {
  if (messages === undefined || messages.length === 0) return null
  return (
    <div class="problem summary" role="alert" tabIndex={-1}>
      {messages.map((message) => (
        <p key={message}>{message}</p>
      ))}
    </div>
  )
}

interface Stored {
  readonly item: Item
  readonly etag: string | undefined
}

interface ItemOptions {
  readonly collection: Collection
  readonly itemKey: readonly string[]
}

/** The screen of a stored item. */
export function ItemScreen({ collection, itemKey }: ItemOptions): VNode {
  const [stored, setStored] = useState<Stored | undefined>(undefined)
  const [problem, setProblem] = useState('')
  const path = collection.isSingleton ? collection.path : itemPath(collection, itemKey)
  const load = (signal?: AbortSignal): Promise<void> =>
    read(path, undefined, signal).then(
      ({ envelope, etag }) => setStored({ item: envelope.item ?? {}, etag }),
      (error: unknown) => {
        if (signal?.aborted !== true) setProblem(messageFor(error))
      },
    )
  useEffect(() => {
    const controller = new AbortController()
    void load(controller.signal)
    return () => controller.abort()
  }, [path])
  const title = stored === undefined ? undefined : titleOf(collection, stored.item)
  const key = collection.isSingleton ? collection.name : itemKey.join(', ')
  return (
    <>
      <Heading
        title={title === undefined ? key : `${key} · ${title}`}
        above={<Above collection={collection} />}
      />
      {problem !== '' && <Problem>{problem}</Problem>}
      {stored && (
        <ItemForm {...{ collection, path, stored }} change={setStored} reload={() => void load()} />
      )}
    </>
  )
}

function titleOf({ title, readable, key }: Collection, item: Item): string | undefined {
  if (title === undefined || key.includes(title)) return undefined
  return shortened(readable.get(title), item[title])
}

interface FormOptions {
  readonly collection: Collection
  readonly path: string
  readonly stored: Stored
  readonly change: (stored: Stored) => void
  readonly reload: () => void
}

/** What the form of an item does, and its state. */
interface ItemActions {
  readonly form: FormState
  readonly isBusy: boolean
  /** Whether somebody else has changed the item since it was read. */
  readonly isStale: boolean
  readonly submit: (ifMatch?: string) => Promise<void>
  readonly remove: () => Promise<void>
}

function useItemActions(
  { collection, path, stored, change }: FormOptions,
  element: { readonly current: HTMLFormElement | null },
): ItemActions {
  const { item, etag } = stored
  const form = useForm(collection.updatable, item)
  const [isBusy, setBusy] = useState(false)
  const [isStale, setStale] = useState(false)
  const version = collection.hasVersions ? etag : undefined
  const reject = ({ status, message, findings }: Rejected): void => {
    setStale(status === 412)
    form.reject(message, findings)
    focusProblem(element.current)
  }
  const submit = async (ifMatch = version): Promise<void> => {
    form.clear()
    const values = form.changes()
    if (values === undefined) {
      focusProblem(element.current)
      return
    }
    setBusy(true)
    const saved = await attempt({ method: 'POST', path, body: values, ifMatch })
    setBusy(false)
    if (saved.kind === 'rejected') reject(saved)
    if (saved.kind !== 'saved') return
    setStale(false)
    const { envelope, etag: next } = saved.reply
    change({ item: { ...item, ...envelope.item }, etag: next })
    announce(noteOf(saved, 'Saved.'))
  }
  const remove = async (): Promise<void> => {
    form.clear()
    const isSure = await ask({
      title: 'Delete the item?',
      text: <p>It can't be restored.</p>,
      confirm: 'Delete',
      isDangerous: true,
    })
    if (!isSure) return
    const saved = await attempt({ method: 'DELETE', path, ifMatch: version })
    if (saved.kind === 'rejected') reject(saved)
    if (saved.kind !== 'saved') return
    guardLeaving(undefined)
    announce('The item was deleted.')
    go(gridHash(collection))
  }
  return { form, isBusy, isStale, submit, remove }
}

function ItemForm(options: FormOptions): VNode {
  const { collection, stored, reload } = options
  const element = useRef<HTMLFormElement>(null)
  const { form, isBusy, isStale, submit, remove } = useItemActions(options, element)
  const { can, updatable } = collection
  return (
    <form
      ref={element}
      class="item"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (!isBusy && form.isChanged) void submit()
      }}
    >
      <Summary messages={form.problems['']} />
      {isStale && (
        <div class="buttons">
          <button type="button" onClick={reload}>
            Load the stored version
          </button>
          <button type="button" class="danger" onClick={() => void submit('*')}>
            Overwrite it
          </button>
        </div>
      )}
      <FormFields collection={collection} fields={updatable} form={form} item={stored.item} />
      {(can.update || can.remove) && (
        <div class="bar">
          {can.update && (
            <button type="submit" class="primary" disabled={isBusy || !form.isChanged}>
              {isBusy ? 'Saving…' : 'Save'}
            </button>
          )}
          {can.remove && (
            <button type="button" class="danger" disabled={isBusy} onClick={() => void remove()}>
              Delete
            </button>
          )}
        </div>
      )}
    </form>
  )
}

/** Saves or deletes. What has no response is shown by the form like a rejection. */
export function attempt(request: Parameters<typeof save>[0]): Promise<Saved> {
  return save(request).catch((error: unknown) => ({
    kind: 'rejected',
    status: 0,
    message: messageFor(error),
    findings: [],
  }))
}

/** Returns what a success says: the information of validations, or a text. */
function noteOf({ reply }: Extract<Saved, { readonly kind: 'saved' }>, text: string): string {
  const notes = reply.envelope.validations
    .filter(({ severity }) => severity === 'information')
    .map(({ message }) => message)
  return [text, ...notes].join(' ')
}
